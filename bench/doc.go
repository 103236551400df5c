// Package bench holds measurements that need several rooms at once, each beside its limit in the same run.
//
//	go test -run xxx -bench . ./bench
//
// Figures are ratios of runs that alternate, since machines are shared: compare them, not the absolute rates.
package bench
