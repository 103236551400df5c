// Command drive runs our side and its peers in turn, checks that their outputs agree, and writes what it measured to
// bench/results and docs/benchmarks.md. bench/run.sh calls it after it has installed the peers and made the data.
//
//	drive [-quick] [-smoke] [-render] [WORKLOAD...]
//
// A side is a process that answers one JSON line for each that it is asked (side.go). Two sides are measured in turn,
// A B A B, and a ratio is the median of the pairs' (pairs.go). A workload is one file.
package main
