package report

import (
	"math"
	"slices"
	"time"

	"github.com/penstock-go/penstock/graph"
)

// timelineDoc is who worked when. All lists are as long as there are buckets.
type timelineDoc struct {
	Bucket     float64        `json:"bucket_seconds"`
	Seconds    float64        `json:"seconds"`
	Stages     []stageLineDoc `json:"stages"`
	Waits      []waitLineDoc  `json:"waits"`
	RSS        []*int64       `json:"rss_bytes"`
	Goroutines []*int64       `json:"goroutines"`
	InFlight   []*int64       `json:"in_flight_bytes"`
}

type stageLineDoc struct {
	ID      string     `json:"id"`
	Workers int        `json:"workers"`
	WaitIn  []float64  `json:"wait_in_seconds"`
	Busy    []float64  `json:"busy_seconds"`
	WaitOut []float64  `json:"wait_out_seconds"`
	Queue   []*float64 `json:"queue"` // null: no queue, or a figure that cannot be true
}

type waitLineDoc struct {
	Stage   *string   `json:"stage"`
	Seconds []float64 `json:"seconds"`
}

// timelineOf is nil where none was kept. Where no sample was taken of the process there is no figure.
func timelineOf(t *graph.Timeline, known bool) *timelineDoc {
	if t == nil {
		return nil
	}
	d := &timelineDoc{Bucket: t.Bucket.Seconds(), Seconds: t.Until.Seconds(), Stages: []stageLineDoc{}, Waits: []waitLineDoc{},
		RSS: sampled(t.RSS), Goroutines: sampled(t.Goroutines), InFlight: []*int64{}}
	for i, n := range t.InFlight {
		if !known || i >= len(t.Goroutines) || t.Goroutines[i] == 0 { // none was under way, or nobody looked
			d.InFlight = append(d.InFlight, nil)
		} else {
			d.InFlight = append(d.InFlight, some(n))
		}
	}
	for _, l := range t.Stages {
		x := stageLineDoc{ID: l.ID, Workers: l.Workers, WaitIn: allSeconds(l.WaitIn), Busy: allSeconds(l.Busy), WaitOut: allSeconds(l.WaitOut)}
		for _, q := range l.Queue {
			if x.Queue = append(x.Queue, nil); q >= 0 && q < limit {
				x.Queue[len(x.Queue)-1] = some(math.Round(q*1e3) / 1e3)
			}
		}
		d.Stages = append(d.Stages, x)
	}
	for _, w := range t.Waits {
		d.Waits = append(d.Waits, waitLineDoc{text(w.Stage), allSeconds(w.Wait)})
	}
	return d
}

func sampled(all []int64) []*int64 {
	out := make([]*int64, len(all))
	for i, n := range all {
		out[i] = positive(n)
	}
	return out
}

func allSeconds(all []time.Duration) []float64 {
	out := make([]float64, len(all))
	for i, d := range all {
		out[i] = d.Seconds()
	}
	return out
}

// timeline copies a timeline without what cannot be true.
func (c *cleaner) timeline(t *graph.Timeline) *graph.Timeline {
	if t == nil || t.Bucket <= 0 || t.Until <= 0 {
		return nil
	}
	x := *t
	x.Stages, x.Waits = slices.Clone(t.Stages), slices.Clone(t.Waits)
	for i := range x.Stages {
		l := &x.Stages[i]
		for _, all := range []*[]time.Duration{&l.WaitIn, &l.Busy, &l.WaitOut} {
			*all = c.allTimes(*all)
		}
		c.settings("timeline", &l.Workers)
	}
	for i := range x.Waits {
		x.Waits[i].Wait = c.allTimes(x.Waits[i].Wait)
	}
	for _, all := range []*[]int64{&x.RSS, &x.Goroutines, &x.InFlight} {
		*all = slices.Clone(*all)
		for i := range *all {
			c.counts("timeline", &(*all)[i])
		}
	}
	return &x
}

func (c *cleaner) allTimes(all []time.Duration) []time.Duration {
	all = slices.Clone(all)
	for i := range all {
		c.time(&all[i], "timeline")
	}
	return all
}

// compact puts lists of figures, which an indented text has one to a line, on one line each.
func compact(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			end := i + 1
			for text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			out = append(out, text[i:end+1]...)
			i = end
		case '[':
			if end, list := figures(text, i); list != nil {
				out = append(out, list...)
				i = end
				continue
			}
			out = append(out, c)
		default:
			out = append(out, c)
		}
	}
	return out
}

// figures is the list that begins at i on one line, and where it ends; nil if it holds anything but figures and null.
func figures(text []byte, i int) (end int, list []byte) {
	for end = i; end < len(text); end++ {
		switch c := text[end]; {
		case c == ' ', c == '\n':
		case c == ',':
			list = append(list, ", "...)
		case c == ']':
			return end, append(list, c)
		case c == '[' && end > i, c == '{', c == '"', c == 't', c == 'f' && text[end-1] == ' ':
			return 0, nil
		default:
			list = append(list, c)
		}
	}
	return 0, nil
}
