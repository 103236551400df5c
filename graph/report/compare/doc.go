// Package compare sets two groups of reports (report.json) side by side: did B get faster or slower than A, at which
// stage, what differs in settings and environment that could explain it, and were the samples the same?
//
// Everything here is a pure function of the reports' texts: no clock, no files, no goroutines. All functions are safe
// for concurrent use, a [Comparison] is read-only once made, and cost grows with the lengths of the reports.
//
//	a, err := compare.Read("base.json", text)          // one report; several of them make a side
//	c, err := compare.Of([]*compare.Report{a}, []*compare.Report{b})
//	fmt.Print(c.Text())                                 // for people; also c.Markdown() and c.JSON()
//	g, err := compare.ParseGate("totals.samples_per_second < -5%")
//	r, err := c.Check(g)                                // for CI
//	if r.Failed {
//		os.Exit(3)
//	}
//
// # Noise
//
// A side of several runs is described by its median and by a distribution-free interval for it: from one order statistic
// to another, so that the true median lies between them with at least the chance that the extremes of five runs give
// (15 of 16), whatever the distribution (W. J. Conover, Practical Nonparametric Statistics, on quantiles). A figure is an
// alarm only with at least [Runs] runs a side, disjoint intervals with a clear gap between them, and medians that differ
// by more than [Least]. Runs of the two sides must alternate: what drifts on a machine then meets both alike.
package compare
