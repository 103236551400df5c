package page

import (
	"slices"
	"strings"
)

// table is a table of the page.
type table struct {
	ID, Caption string
	Note        string
	Heads       []column
	Rows        [][]cell
}

// column is the head of one. Path is set where the cells below are the figures of a list of the report, as they are.
type column struct {
	Text, Path string
	Left       bool
}

// heads makes columns; those that begin with < are aligned to the left.
func heads(all ...string) []column {
	out := make([]column, len(all))
	for i, s := range all {
		text, left := strings.CutPrefix(s, "<")
		out[i] = column{Text: text, Left: left}
	}
	return out
}

func (p *page) stageTable() table {
	t := table{ID: "stages", Caption: "Stages",
		Heads: heads("<stage", "<kind", "<load", "workers", "in", "out", "wait in", "busy", "wait out", "mean", "p50", "p95", "p99", "longest",
			"can do, items/s", "buffer", "mean depth", "window", "bytes out"),
		Note: "Wait in, busy and wait out are shares of the lifetimes of the workers. Times are per item. Can do: what the workers could do if they never had to wait. Depth is of the queue behind the stage."}
	for _, s := range p.r.at("stages").list() {
		life := s.at("wait_in_seconds").value() + s.at("busy_seconds").value() + s.at("wait_out_seconds").value()
		kind := literal(s.at("kind"))
		if f := s.at("fused_into"); !f.null() {
			kind.Text += ", runs inside " + literal(f).Text
		}
		row := []cell{head(s.at("id")), kind, literal(s.at("load")), count(s.at("workers")), count(s.at("items_in")), count(s.at("items_out")),
			of(s.at("wait_in_seconds"), life), of(s.at("busy_seconds"), life), of(s.at("wait_out_seconds"), life)}
		for _, key := range []string{"mean", "p50", "p95", "p99", "max"} {
			row = append(row, seconds(s.at("service."+key)))
		}
		t.Rows = append(t.Rows, append(row, rate(s.at("capacity_per_second")), count(s.at("buffer")), digits(s.at("queue.mean")),
			count(s.at("window")), size(s.at("bytes_out"))))
	}
	return t
}

// lostTable is what did not come through; it has no rows where everything did.
func (p *page) lostTable() table {
	t := table{ID: "lost", Caption: "Not delivered as they came",
		Heads: heads("<stage", "failed", "skipped", "stand-ins", "filtered", "retried", "overdue", "left behind", "in flight")}
	keys := []string{"failed", "skipped", "stand_ins", "filtered", "retried", "overdue", "abandoned", "in_flight"}
	for _, s := range p.r.at("stages").list() {
		row, any := []cell{head(s.at("id"))}, false
		for _, k := range keys {
			any = any || s.at(k).value() > 0
			row = append(row, count(s.at(k)))
		}
		if any {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func (p *page) blameTable() table {
	t := table{ID: "blame", Caption: "All blame", Heads: heads("<stage", "<cause", "<phase", "time", "of all waits")}
	whole := p.r.at("sink.wait_seconds").value()
	for _, b := range p.r.at("blame").list() {
		t.Rows = append(t.Rows, []cell{head(b.at("stage")), literal(b.at("cause")), literal(b.at("phase")), seconds(b.at("seconds")), of(b.at("seconds"), whole)})
	}
	return t
}

func (p *page) waitsTable() table {
	t := table{ID: "waits", Caption: "Waits of the sink", Heads: heads("mean", "p50", "p95", "p99", "longest", "start-up", "steady", "epoch edges", "all", "busy")}
	row := []cell{}
	for _, k := range []string{"waits.mean", "waits.p50", "waits.p95", "waits.p99", "waits.max", "phases.startup", "phases.steady", "phases.epoch_edge",
		"wait_seconds", "busy_seconds"} {
		row = append(row, seconds(p.r.at("sink."+k)))
	}
	t.Rows = [][]cell{row}
	return t
}

func (p *page) bucketTable() table {
	t := table{ID: "buckets", Caption: "How long the single waits were", Heads: heads("at most", "waits")}
	for _, b := range p.r.at("sink.waits.buckets").list() {
		t.Rows = append(t.Rows, []cell{seconds(b.at("upto")), count(b.at("count"))})
	}
	return t
}

func (p *page) slowTable() table {
	t := table{ID: "slowest", Caption: "Slowest samples", Heads: heads("<stage", "<sample", "time", "mean of the stage")}
	for _, s := range p.r.at("stages").list() {
		for _, x := range s.at("slowest").list() {
			t.Rows = append(t.Rows, []cell{head(s.at("id")), literal(x.at("key")), seconds(x.at("seconds")), seconds(s.at("service.mean"))})
		}
	}
	return t
}

// heldTable is what finished items waited behind.
func (p *page) heldTable() table {
	t := table{ID: "stragglers", Caption: "What finished items waited behind", Heads: heads("<stage", "<sample", "times", "held others up", "workers stood still")}
	for _, s := range p.r.at("stages").list() {
		for _, x := range s.at("stragglers").list() {
			t.Rows = append(t.Rows, []cell{head(s.at("id")), literal(x.at("key")), count(x.at("times")), seconds(x.at("held_seconds")), seconds(x.at("blocked_seconds"))})
		}
	}
	return t
}

// mixTable sets what was asked of each input of a mix beside what it gave.
func (p *page) mixTable() table {
	t := table{ID: "mix", Caption: "Mixes", Heads: heads("<stage", "<input", "asked", "delivered", "items")}
	for _, m := range p.r.at("mix").list() {
		for _, in := range m.at("inputs").list() {
			t.Rows = append(t.Rows, []cell{head(m.at("id")), literal(in.at("id")), percent(in.at("asked")), percent(in.at("delivered")), count(in.at("items"))})
		}
	}
	return t
}

// decisionTable is what a tuner moved while the pipeline ran.
func (p *page) decisionTable() table {
	t := table{ID: "decisions", Caption: "Settings that moved while it ran", Heads: heads("at", "<stage", "<setting", "from", "to", "samples/s before", "after", "<kept", "<why")}
	for _, d := range p.r.at("decisions").list() {
		at := seconds(d.at("second"))
		at.Head = true
		t.Rows = append(t.Rows, []cell{at, literal(d.at("stage")), literal(d.at("key")), count(d.at("from")), count(d.at("to")),
			rate(d.at("before")), rate(d.at("after")), literal(d.at("kept")), literal(d.at("why"))})
	}
	return t
}

func (p *page) epochTable() table {
	t := table{ID: "epochs", Caption: "Epochs", Heads: heads("epoch", "samples", "batches", "time", "wait before it", "peak memory", "under way at its end", "goroutines", "<digest")}
	for _, e := range p.r.at("epochs").list() {
		c := count(e.at("epoch"))
		c.Head = true
		t.Rows = append(t.Rows, []cell{c, count(e.at("samples")), count(e.at("batches")), seconds(e.at("seconds")),
			seconds(e.at("edge_gap_seconds")), size(e.at("peak_rss_bytes")), size(e.at("in_flight_bytes")), count(e.at("goroutines")), literal(e.at("digest"))})
	}
	return t
}

// lineTable is a stage of the timeline, or what the whole process held, bucket by bucket: figures as they are.
func (p *page) lineTable(id, caption string, lists ...tree) table {
	t := table{ID: id, Caption: caption, Heads: heads("from, s")}
	bucket := p.r.at("timeline.bucket_seconds").value()
	for _, l := range lists {
		if l.null() {
			continue
		}
		words := strings.ReplaceAll(l.path[strings.LastIndex(l.path, ".")+1:], "_", " ")
		words = strings.ReplaceAll(strings.ReplaceAll(words, " seconds", ", s"), " bytes", ", bytes")
		t.Heads = append(t.Heads, column{Text: words, Path: l.path})
		for i, x := range l.list() {
			if i == len(t.Rows) {
				t.Rows = append(t.Rows, []cell{{Text: trim(float64(i) * bucket), Head: true}})
			}
			for len(t.Rows[i]) < len(t.Heads)-1 { // a list before this one is shorter
				t.Rows[i] = append(t.Rows[i], cell{})
			}
			c := cell{Text: x.raw()}
			if x.null() {
				c.Text = none
			}
			t.Rows[i] = append(t.Rows[i], c)
		}
	}
	return t
}

// pairs is a table with a name and a value in each row.
func (p *page) pairs(id, caption string, rows ...pair) table {
	t := table{ID: id, Caption: caption, Heads: heads("<what", "<value")}
	for _, r := range rows {
		r.c.Left = true
		t.Rows = append(t.Rows, []cell{{Text: r.name, Head: true, Left: true}, r.c})
	}
	return t
}

type pair struct {
	name string
	c    cell
}

// memoryTable sets the estimate of memory beside what was then held.
func (p *page) memoryTable() table {
	t := table{ID: "memory", Caption: "Memory, estimated and held", Heads: heads("<what", "estimated", "held"),
		Note: "Estimated once the first deliveries had shown how large items are and which stage is the slowest. Each was held at most."}
	m := p.r.at("memory")
	if m.at("estimate").null() {
		return t
	}
	t.Note += " While the sink pauses, up to " + size(m.at("estimate.full_bytes")).Text + "."
	for _, row := range [][3]string{{"samples on their way", "estimate.in_flight_bytes", "in_flight_peak_bytes"}, {"batches", "estimate.slabs_bytes", "slabs_peak_bytes"},
		{"caches", "estimate.caches_bytes", "caches_bytes"}, {"all of it", "estimate_bytes", "held_peak_bytes"},
		{"the process", "estimate.resident_bytes", "peak_rss_bytes"}} {
		t.Rows = append(t.Rows, []cell{{Text: row[0], Head: true, Left: true}, size(m.at(row[1])), size(m.at(row[2]))})
	}
	return t
}

// placesTable is where the estimate says that memory lies.
func (p *page) placesTable() table {
	t := table{ID: "places", Caption: "Where memory is estimated to lie",
		Heads: heads("<stage", "<what", "items", "with every queue full", "set aside for one", "what one takes there")}
	for _, x := range p.r.at("memory.estimate.parts").list() {
		t.Rows = append(t.Rows, []cell{head(x.at("stage")), literal(x.at("part")), count(x.at("items")), count(x.at("full_items")),
			size(x.at("item_bytes")), size(x.at("item_size_bytes"))})
	}
	return t
}

func (p *page) environmentTable() table {
	e, m, t := p.r.at("environment"), p.r.at("memory"), p.r.at("totals")
	return p.pairs("environment", "Environment and totals",
		pair{"processor", literal(e.at("cpu"))}, pair{"cores", count(e.at("cores"))}, pair{"cores after the quota", digits(e.at("cores_quota"))},
		pair{"memory limit", size(e.at("memory_limit_bytes"))}, pair{"system", literal(e.at("os"))}, pair{"Go", literal(e.at("go"))},
		pair{"Penstock", literal(e.at("version"))}, pair{"device", literal(e.at("device"))}, pair{"driver", literal(e.at("driver"))},
		pair{"decoder", literal(e.at("decoder"))}, pair{"emulated", literal(p.r.at("emulated"))}, pair{"rank", count(p.r.at("rank"))},
		pair{"world", count(p.r.at("world"))}, pair{"seconds", seconds(t.at("seconds"))}, pair{"samples", count(t.at("samples"))},
		pair{"batches", count(t.at("batches"))}, pair{"bytes", size(t.at("bytes"))}, pair{"processor time", seconds(t.at("cpu_seconds"))},
		pair{"waited for a core", seconds(t.at("cpu_wait_seconds"))}, pair{"garbage collection paused", seconds(p.r.at("gc_pause_seconds"))},
		pair{"skipped", count(t.at("skipped"))}, pair{"stand-ins", count(t.at("stand_ins"))}, pair{"padded", count(t.at("padded"))},
		pair{"dropped", count(t.at("dropped"))}, pair{"failed", count(t.at("failed"))}, pair{"counts add up", literal(t.at("balanced"))},
		pair{"peak resident memory", size(m.at("peak_rss_bytes"))}, pair{"peak under way", size(m.at("in_flight_peak_bytes"))},
		pair{"beyond the budget", size(m.at("overdraft_peak_bytes"))}, pair{"estimated at the start", size(m.at("estimate_bytes"))},
		pair{"digest", literal(p.r.at("digest"))}, pair{"digest took", seconds(p.r.at("digest_seconds"))},
		pair{"fingerprint of the spec", literal(p.r.at("spec.fingerprint"))})
}

// anyTable shows a list of the report of which nothing is known but the names of its keys.
func (p *page) anyTable(id, caption string) table {
	t := table{ID: id, Caption: caption}
	var keys []string
	for _, row := range p.r.at(id).list() {
		m, _ := row.v.(map[string]any)
		for k, v := range m {
			inner, _ := v.(map[string]any)
			for i := range inner { // a column for each of its keys
				keys = append(keys, k+"."+i)
			}
			if inner == nil {
				keys = append(keys, k)
			}
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	slices.SortFunc(keys, func(a, b string) int {
		if first := func(s string) bool { return s == "id" || s == "name" }; first(a) != first(b) {
			if first(a) {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	for _, k := range keys {
		t.Heads = append(t.Heads, column{Text: strings.NewReplacer("_", " ", ".", " ").Replace(k)})
	}
	for _, row := range p.r.at(id).list() {
		cells := make([]cell, len(keys))
		for i, k := range keys {
			cells[i] = guess(row.at(k))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
