// Package cores holds a spec whose bottleneck is the processor. It needs the real clock, since in virtual time there are no
// cores to run short of, so it stands apart from the other planted bottlenecks:
//
//	go run ./cmd/penstock run examples/cores/cores.yaml
//
// Run it a second time beside a program that computes on all cores, and see the report say so.
package cores
