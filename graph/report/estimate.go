package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/penstock-go/penstock/graph"
)

// Estimate is an estimate of memory as text: one line, and what lies where.
func Estimate(e graph.MemoryEstimate) string {
	g := grid{Left: []bool{true, true}}
	g.Add("stage", "holds", "items", "of at most", "bytes", "at most")
	for _, p := range e.Parts {
		g.Add(plain(p.Stage), partWord(p), count(p.Items), sizeOr(p.Each), size(p.Bytes()), size(p.Full*p.Each))
	}
	return EstimateLine(e) + "\n" + g.Render("  ") + wrap("At most: with every queue full, as when the sink makes a long pause.", "  ", "  ", width)
}

// EstimateLine is an estimate of memory in one line.
func EstimateLine(e graph.MemoryEstimate) string {
	parts := []string{size(e.InFlight) + " of samples on their way"}
	if e.Slabs > 0 {
		parts = append(parts, size(e.Slabs)+" of batches")
	}
	if e.Caches > 0 {
		parts = append(parts, size(e.Caches)+" in caches")
	}
	line := "memory: about " + size(e.Total()) + " will be held, " + strings.Join(parts, ", ")
	if e.Full > e.Total() {
		line += "; up to " + size(e.Full) + " while the sink pauses"
	}
	if e.Resident > 0 {
		line += "; the process about " + size(e.Resident)
	}
	return line
}

func partWord(p graph.MemoryPart) string {
	switch p.Part {
	case graph.PartEdge:
		return "queue and workers"
	case graph.PartHold:
		return "held back"
	case graph.PartLists:
		return "lists"
	case graph.PartSlabs:
		return "batches"
	}
	return p.Part
}

func sizeOr(n int64) string {
	if n == 0 {
		return none
	}
	return size(n)
}

// heldBytes is what was held at most, beside the estimate: the sum of the most of each sort.
func heldBytes(s *graph.Snapshot) (caches, all int64) {
	for _, c := range s.Caches {
		caches = saturated(caches, c.Bytes)
	}
	return caches, saturated(saturated(s.Memory.InFlightPeak, s.Memory.SlabsPeak), caches)
}

// saturated adds up sizes, which a report may claim to be as large as it likes.
func saturated(a, b int64) int64 {
	if c := a + b; c >= a {
		return c
	}
	return 1<<63 - 1
}

// estimate sets what was estimated beside what was then held; nil: nothing was.
func (j *judge) estimate() (g *grid, note string) {
	e, m := j.s.Memory.Estimated, j.s.Memory
	if e == nil || !m.BytesKnown {
		return nil, ""
	}
	caches, all := heldBytes(&j.s)
	g = &grid{Left: []bool{true}}
	g.Add("memory", "estimated", "held", "the estimate is")
	row := func(what string, estimated, held int64) {
		if estimated == 0 && held == 0 {
			return
		}
		off := none
		if r := float64(estimated)/float64(held) - 1; held > 0 && r < 10 {
			word := "more"
			if r < 0 {
				word = "less"
			}
			off = fmt.Sprintf("%.0f %% %s", 100*math.Abs(r), word)
		}
		g.Add(what, size(estimated), sizeOr(held), off)
	}
	row("samples", e.InFlight, m.InFlightPeak)
	row("batches", e.Slabs, m.SlabsPeak)
	row("caches", e.Caches, caches)
	total := saturated(saturated(e.InFlight, e.Slabs), e.Caches)
	row("all of it", total, all)
	row("the process", e.Resident, m.PeakRSS)
	note = "Estimated " + duration(e.At) + " after the start"
	if e.Full > total {
		note += "; up to " + size(e.Full) + " while the sink pauses"
	}
	return g, note + "."
}

// estimateDoc is the estimate in the report.
type estimateDoc struct {
	Seconds  float64   `json:"seconds"`
	Slowest  string    `json:"slowest"`
	InFlight int64     `json:"in_flight_bytes"`
	Slabs    int64     `json:"slabs_bytes"`
	Caches   int64     `json:"caches_bytes"`
	Full     int64     `json:"full_bytes"`
	Resident *int64    `json:"resident_bytes"`
	Parts    []partDoc `json:"parts"`
}

type partDoc struct {
	Stage string `json:"stage"`
	Part  string `json:"part"`
	Items int64  `json:"items"`
	Full  int64  `json:"full_items"`
	Each  int64  `json:"item_bytes"`
	Size  int64  `json:"item_size_bytes"`
}

func estimateOf(e *graph.MemoryEstimate) *estimateDoc {
	if e == nil {
		return nil
	}
	d := &estimateDoc{Seconds: e.At.Seconds(), Slowest: e.Slowest, InFlight: e.InFlight, Slabs: e.Slabs, Caches: e.Caches, Full: e.Full,
		Resident: positive(e.Resident), Parts: []partDoc{}}
	for _, p := range e.Parts {
		d.Parts = append(d.Parts, partDoc{p.Stage, p.Part, p.Items, p.Full, p.Each, p.Size})
	}
	return d
}

// estimated cleans an estimate.
func (c *cleaner) estimated(e *graph.MemoryEstimate) *graph.MemoryEstimate {
	if e == nil {
		return nil
	}
	x := *e
	c.time(&x.At, "memory.estimate")
	c.counts("memory.estimate", &x.InFlight, &x.Slabs, &x.Caches, &x.Full, &x.Resident)
	x.Parts = append([]graph.MemoryPart(nil), e.Parts...)
	for i := range x.Parts {
		p := &x.Parts[i]
		c.counts("memory.estimate.parts", &p.Items, &p.Full, &p.Each, &p.Size)
	}
	return &x
}
