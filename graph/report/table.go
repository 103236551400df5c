package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/penstock-go/penstock/graph"
)

// Table is the report for people: at most 100 columns, plain ASCII but for the names in it. It begins with the verdict.
func Table(s graph.Snapshot) string {
	j := newJudge(clean(s))
	var b strings.Builder
	b.WriteString(wrap(j.v.Sentence, "", "", width))
	b.WriteString("\n" + j.head())
	if len(j.s.Stages) > 0 {
		b.WriteString("\n" + j.stages())
	}
	for _, part := range []string{j.waits(), j.evidence(), j.moved(), j.mixed(), j.slowest(), j.heldUp(), j.lost(), j.again(), j.launches(), j.devices(), j.caches(), j.epochs(), j.memory(true), j.warned()} {
		if part != "" {
			b.WriteString("\n" + part)
		}
	}
	return b.String()
}

// head says what ran, how much of it, how fast and where.
func (j *judge) head() string {
	t := j.s.Totals
	parts := []string{plural(t.Samples, "sample")}
	if t.Batches > 0 {
		parts[0] += " in " + plural(t.Batches, "batch")
	}
	parts = append(parts, plural(t.Epochs, "epoch"), duration(t.Elapsed))
	if r := ratio(float64(t.Samples), t.Elapsed.Seconds()); r != nil {
		parts = append(parts, rate(*r)+" samples/s over all")
	}
	if t.FirstBatch != nil {
		parts = append(parts, "first "+j.unit()+" after "+duration(*t.FirstBatch))
	}
	text := wrap(plain(j.s.Pipeline)+": "+strings.Join(parts, ", "), "", "  ", width)
	return text + wrap(j.where(), "", "  ", width)
}

func (j *judge) where() string {
	var parts []string
	e := j.s.Environment
	if j.m.cores > 0 {
		used := ""
		if j.m.used > 0 {
			used = " (" + digits(j.m.used, 2) + " kept busy)"
		}
		parts = append(parts, digits(j.m.cores, 2)+" cores"+used)
	}
	for _, x := range []string{e.CPU, e.OS, e.Go} {
		if x != "" {
			parts = append(parts, plain(x))
		}
	}
	if j.s.World > 1 {
		parts = append(parts, fmt.Sprintf("rank %d of %d", j.s.Rank, j.s.World))
	}
	if j.s.Emulated {
		parts = append(parts, "the accelerator is emulated")
	}
	return "on " + strings.Join(parts, ", ")
}

// stages is the table with one line a stage.
func (j *judge) stages() string {
	g := grid{Left: []bool{true, true, true}}
	g.Add("", "", "", "", "items", "items", "wait", "", "wait", "time", "time", "can", "queue")
	g.Add("", "stage", "kind", "workers", "in", "out", "in", "busy", "out", "mean", "p95", "do/s", "items")
	fused, shrunk := false, false
	for i := range j.m.all {
		g.Rows = append(g.Rows, j.row(i))
		st := j.m.all[i].stage
		fused = fused || st.FusedInto != ""
		shrunk = shrunk || st.FusedInto == "" && st.Buffer > 0 && st.Queue.Mean != nil && *st.Queue.Mean > float64(st.Buffer)
	}
	g.Fit(width, map[int]int{1: 8, 2: 5}, 2, 1)
	unit := "items"
	if j.m.samples > 0 {
		unit = "samples"
	}
	notes := "Time is per item. Can do: " + unit + " a second, were the stage never kept waiting. Queue: items ready " +
		"behind it, of those that fit."
	if shrunk {
		notes += " Where more are ready than fit, the queue was longer before settings moved."
	}
	if j.v.Bottleneck != "" {
		notes = "> is the bottleneck. " + notes
	}
	if fused {
		notes += " + runs inside the stage it follows, which has its times."
	}
	return g.Render("") + wrap(notes, "", "", width)
}

func (j *judge) row(i int) []string {
	r := j.m.all[i]
	st := r.stage
	mark, workers := "", fmt.Sprint(st.Workers)
	switch {
	case st.FusedInto != "":
		return []string{"+", plain(st.ID), plain(st.Kind), none, short(st.ItemsIn), short(st.ItemsOut), none, none, none,
			none, none, none, none}
	case st.ID == j.v.Bottleneck:
		mark = ">"
	}
	if st.WorkersAuto {
		workers = "auto " + workers
	}
	in, out := short(st.ItemsIn), short(st.ItemsOut)
	if len(st.From) == 0 && st.ItemsIn == 0 {
		in = none
	}
	if i == j.m.sink {
		out = none
	}
	life := st.WaitIn.Seconds() + st.Busy.Seconds() + st.WaitOut.Seconds()
	cells := []string{mark, plain(st.ID), plain(st.Kind), workers, in, out, part(st.WaitIn, life), part(st.Busy, life),
		part(st.WaitOut, life), none, none, none, none}
	if st.Service.Mean > 0 || st.Service.Count > 0 {
		cells[9], cells[10] = tight(duration(st.Service.Mean)), tight(duration(st.Service.P95))
	}
	if r.can > 0 {
		cells[11] = rate(r.can * j.samples())
		if x := r.can * j.samples(); x >= 1e6 {
			cells[11] = short(int64(min(x, 1e18)))
		}
	}
	if st.Queue.Mean != nil && st.Buffer > 0 {
		cells[12] = fill(*st.Queue.Mean) + "/" + fmt.Sprint(st.Buffer)
	}
	return cells
}

// part is a share of a lifetime in a cell.
func part(d time.Duration, life float64) string {
	if r := ratio(d.Seconds(), life); r != nil {
		return tight(percent(*r))
	}
	return none
}

// fill is a mean number of items: 0.3, 12.
func fill(x float64) string {
	if x < 0.05 {
		return "0"
	}
	if x < 10 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
	}
	return fmt.Sprintf("%.0f", x)
}

// tight takes the spaces out of a figure, for cells.
func tight(s string) string { return strings.ReplaceAll(s, " ", "") }
