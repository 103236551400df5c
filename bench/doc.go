// Package bench holds measurements that need several rooms at once, each beside its limit in the same run.
//
//	go test -run xxx -bench . ./bench
//
// Whole pipelines are measured against PyTorch and others by bench/run.sh: package drive runs our side, package ours, and
// the peers in turn, and writes docs/benchmarks.md.
//
//	bench/run.sh --quick
//
// Figures are ratios of runs that alternate, since machines are shared: compare them, not the absolute rates.
package bench
