package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/penstock-go/penstock/graph"
)

// waits shows what the sink's wait was spent on, phase by phase.
func (j *judge) waits() string {
	k := j.s.Sink
	if k.Wait == 0 || len(j.s.Stages) == 0 {
		return ""
	}
	text := fmt.Sprintf("Why %s waited, %s in all:\n", name(j.sink()), duration(k.Wait))
	g := grid{Left: []bool{true, false, true, true, false, false, true}}
	longest := 0.0
	for _, phase := range []string{graph.PhaseSteady, graph.PhaseStartup, graph.PhaseEpochEdge} {
		for _, c := range j.m.charges(&j.s, phase) {
			longest = max(longest, c.time)
		}
	}
	j.phase(&g, longest, graph.PhaseSteady, "steady", k.Steady, 8)
	j.phase(&g, longest, graph.PhaseStartup, "start", k.Startup, 3)
	j.phase(&g, longest, graph.PhaseEpochEdge, "epoch edges", k.EpochEdge, 3)
	return text + g.Render("  ")
}

// phase adds the blame of one phase: most lines of it, and the rest in one. Bars compare times, of all phases.
func (j *judge) phase(g *grid, longest float64, phase, word string, total time.Duration, most int) {
	all := j.m.charges(&j.s, phase)
	if total == 0 && len(all) == 0 {
		return
	}
	first := []string{word, tight(duration(total))}
	rest := 0.0
	for i, c := range all {
		if i >= most || i > 0 && c.share < 0.01 {
			rest += c.time
			continue
		}
		id := none
		if c.stage != "" {
			id = clip(plain(c.stage), 20)
		}
		g.Rows = append(g.Rows, append(first, id, clip(c.words(), 24), tight(seconds(c.time)), tight(percent(c.share)),
			bar(c.time/longest)))
		first = []string{"", ""}
	}
	if share := ratio(rest, total.Seconds()); share != nil && *share >= 0.01 {
		g.Add("", "", "others", "", tight(seconds(rest)), tight(percent(*share)), bar(rest/longest))
	}
	if len(all) == 0 {
		g.Rows = append(g.Rows, first)
	}
}

// bar is a time, as a share of the longest, in at most 24 marks.
func bar(share float64) string { return strings.Repeat("#", int(min(max(share, 0), 1)*24+0.5)) }

func (j *judge) evidence() string {
	if len(j.v.Evidence) == 0 {
		return ""
	}
	text := "What this rests on:\n"
	for _, line := range j.v.Evidence {
		text += wrap(line, "  - ", "    ", width)
	}
	return text
}

// slow is one of the slowest items of all stages, and how it compares to the mean of its stage.
type slow struct {
	stage *graph.StageStats
	item  graph.Slow
	times float64
}

// standsOut is how many times the mean of its stage an item must take to be listed.
const standsOut = 5

// slow is the items that stand out most from their stage, the worst first.
func (j *judge) slow() []slow {
	var all []slow
	for i, r := range j.m.all {
		mean := r.stage.Service.Mean.Seconds()
		if i == j.m.sink || mean == 0 {
			continue
		}
		for _, x := range r.stage.Slowest {
			if t := x.Time.Seconds() / mean; t >= standsOut {
				all = append(all, slow{r.stage, x, t})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b slow) int { return cmp.Compare(b.item.Time, a.item.Time) })
	return all[:min(len(all), 5)]
}

func (j *judge) slowest() string {
	all := j.slow()
	if len(all) == 0 {
		return ""
	}
	g := grid{Left: []bool{true, false, false, true}}
	for _, x := range all {
		g.Add(clip(plain(x.stage.ID), 24), tight(duration(x.item.Time)), digits(x.times, 2)+" x the mean",
			clip(plain(x.item.Key), 44))
	}
	return "Slowest items:\n" + g.Render("  ")
}

// mixed sets what was asked of the inputs of each mix beside what they gave.
func (j *judge) mixed() string {
	var parts []string
	for _, m := range j.s.Mix {
		g := mixGrid(m, func(s string) string { return clip(plain(s), 24) })
		parts = append(parts, fmt.Sprintf("What %s mixed:\n", name(m.ID))+g.Render("  "))
	}
	return strings.Join(parts, "\n")
}

// fine is a share with a decimal: 33.3%.
func fine(x float64) string { return fmt.Sprintf("%.1f%%", 100*x) }

func mixGrid(m graph.MixStats, cell func(string) string) grid {
	g := grid{Left: []bool{true}}
	g.Add("input", "asked", "delivered", "items")
	for _, in := range m.Inputs {
		given := none
		if in.Delivered != nil {
			given = fine(*in.Delivered)
		}
		g.Add(cell(in.ID), fine(in.Asked), given, short(in.Items))
	}
	return g
}

// lost counts what did not come through, stage by stage.
func (j *judge) lost() string {
	var lines []string
	for _, r := range j.m.all {
		st := r.stage
		var parts []string
		for _, x := range []struct {
			n    int64
			what string
		}{{st.Failed, "failed"}, {st.Skipped, "skipped"}, {st.StandIns, "replaced by stand-ins"}, {st.Filtered, "filtered"},
			{st.Dropped, "dropped"}} {
			if x.n > 0 {
				parts = append(parts, count(x.n)+" "+x.what)
			}
		}
		if len(parts) > 0 {
			lines = append(lines, plain(st.ID)+" "+strings.Join(parts, ", "))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return wrap("Not delivered as they came: "+strings.Join(lines, "; ")+".", "", "  ", width) + j.skips()
}

// skips lists the first items that were left out, as many of each stage as there is room for.
func (j *judge) skips() string {
	const most = 8
	text := ""
	for _, n := range few(j.s.Skips, most) {
		text += wrap(fmt.Sprintf("%s %s: %s", plain(n.Stage), clip(plain(n.Key), 60), clip(plain(n.Err), 200)), "  - ", "    ", width)
	}
	if rest := j.s.Totals.Skipped - int64(min(len(j.s.Skips), most)); text != "" && rest > 0 {
		text += "    and " + plural(rest, "more skipped item") + "\n"
	}
	return text
}

// few picks at most n notes: of each stage in turn, in their order.
func few(all []graph.SkipNote, n int) []graph.SkipNote {
	if len(all) <= n {
		return all
	}
	count := map[string]int{}
	rank := func(stage string) int { count[stage]++; return count[stage] }
	ranks := make([]int, len(all))
	for i := range all {
		ranks[i] = rank(all[i].Stage)
	}
	var picked []graph.SkipNote
	for level := 1; len(picked) < n; level++ {
		for i := range all {
			if ranks[i] == level && len(picked) < n {
				picked = append(picked, all[i])
			}
		}
	}
	slices.SortStableFunc(picked, func(a, b graph.SkipNote) int {
		at := func(s string) int { return slices.IndexFunc(all, func(x graph.SkipNote) bool { return x.Stage == s }) }
		return cmp.Compare(at(a.Stage), at(b.Stage))
	})
	return picked
}

// again tells of calls that were made more than once and of those that never came back.
func (j *judge) again() string {
	var tries, left []string
	for _, r := range j.m.all {
		st := r.stage
		if st.Retried > 0 {
			tries = append(tries, plain(st.ID)+" "+plural(st.Retried, "time"))
		}
		if st.Abandoned > 0 {
			left = append(left, plural(st.Abandoned, "call")+" of "+plain(st.ID))
		}
	}
	text := ""
	if len(tries) > 0 {
		text = wrap("Tried again after an error that might pass: "+strings.Join(tries, ", ")+".", "", "  ", width)
	}
	if len(left) > 0 {
		text += wrap("Left behind, for they ignored their context after the timeout: "+strings.Join(left, ", ")+
			". Their memory is not used again.", "", "  ", width)
	}
	return text
}

// epochs is a line an epoch; of many the first and the last.
func (j *judge) epochs() string {
	all := j.s.Epochs
	if len(all) < 2 {
		return ""
	}
	g := grid{Left: []bool{}}
	g.Add("epoch", "samples", "time", "samples/s", "gap before", "peak memory")
	for i, e := range all {
		if len(all) > 8 && i >= 3 && i < len(all)-3 {
			if i == 3 {
				g.Add("...")
			}
			continue
		}
		speed, gap, rss := none, none, none
		if r := ratio(float64(e.Samples), e.Elapsed.Seconds()); r != nil {
			speed = rate(*r)
		}
		if e.EdgeGap != nil {
			gap = duration(*e.EdgeGap)
		}
		if e.PeakRSS > 0 {
			rss = size(e.PeakRSS)
		}
		g.Add(count(e.Epoch), count(e.Samples), duration(e.Elapsed), speed, gap, rss)
	}
	return "Epochs:\n" + g.Render("  ")
}

// memory is what was held; tables: with the estimate beside it.
func (j *judge) memory(tables bool) string {
	m := j.s.Memory
	var parts []string
	if m.PeakRSS > 0 {
		parts = append(parts, size(m.PeakRSS)+" resident at most")
	}
	if m.BytesKnown {
		text := size(m.InFlightPeak) + " of items under way at most"
		if m.Limit > 0 {
			text += " (budget " + size(m.Limit) + ")"
		}
		parts = append(parts, text)
		if m.OverdraftPeak > 0 {
			parts = append(parts, size(m.OverdraftPeak)+" of it beyond the budget, so as not to stop")
		}
		if m.Scarce > 0 {
			parts = append(parts, "for "+duration(m.Scarce)+" the container was nearly full and items were let in one by one")
		}
	} else if m.PeakRSS > 0 {
		parts = append(parts, "the items do not tell their size, so no budget is kept")
	}
	if m.Estimate != nil && (m.Estimated == nil || !m.BytesKnown) {
		parts = append(parts, size(*m.Estimate)+" estimated at the start")
	}
	if j.s.GCPause > 0 {
		parts = append(parts, "garbage collection paused the program for "+duration(j.s.GCPause))
	}
	text := ""
	if len(parts) > 0 {
		text = wrap("Memory: "+strings.Join(parts, "; ")+".", "", "  ", width)
	}
	if g, note := j.estimate(); g != nil && tables {
		text += g.Render("  ") + wrap(note, "  ", "  ", width)
	}
	if j.s.Digest != nil {
		text += wrap(fmt.Sprintf("Digest of all samples: %s (took %s).", plain(*j.s.Digest), duration(j.s.DigestTime)),
			"", "  ", width)
	}
	return text
}

func (j *judge) warned() string {
	text := ""
	for _, w := range warnings(&j.s) {
		text += wrap(plain(w), "warning: ", "  ", width)
	}
	return text
}
