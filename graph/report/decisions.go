package report

import (
	"fmt"

	"github.com/penstock-go/penstock/graph"
)

type decisionDoc struct {
	Second float64  `json:"second"`
	Stage  string   `json:"stage"`
	Key    string   `json:"key"`
	From   int      `json:"from"`
	To     int      `json:"to"`
	Why    string   `json:"why"`
	Before *float64 `json:"before"`
	After  *float64 `json:"after"` // null: the run ended before it was judged
	Kept   *bool    `json:"kept"`
}

func decisionsOf(all []graph.Decision) []decisionDoc {
	docs := make([]decisionDoc, 0, len(all))
	for _, d := range all {
		x := decisionDoc{Second: d.Second, Stage: d.Stage, Key: d.Key, From: d.From, To: d.To, Why: d.Why, Before: positive(d.Before)}
		if !d.Open {
			x.After, x.Kept = positive(d.After), some(d.Kept)
		}
		docs = append(docs, x)
	}
	return docs
}

func (c *cleaner) decision(d *graph.Decision) {
	c.settings("decisions", &d.From, &d.To)
	for _, x := range []*float64{&d.Second, &d.Before, &d.After} {
		p := x
		if c.number("decisions", &p); p == nil {
			*x = 0
		}
	}
}

// mostMoves is how many moves the text shows: the first and the last of those that were kept.
const mostMoves = 8

// moved tells which settings a tuner moved while the pipeline ran.
func (j *judge) moved() string {
	var kept []graph.Decision
	undone := 0
	for _, d := range j.s.Decisions {
		if d.Kept || d.Open {
			kept = append(kept, d)
		} else {
			undone++
		}
	}
	if len(j.s.Decisions) == 0 {
		return ""
	}
	g := grid{Left: []bool{false, true, false, true, false, false, true}}
	left := 0
	for i, d := range kept {
		if len(kept) > mostMoves && i >= mostMoves/2 && i < len(kept)-mostMoves/2 {
			left++
			continue
		}
		after := "not judged"
		if !d.Open {
			after = rate(d.After)
		}
		g.Add(seconds(d.Second), plain(d.Stage+"."+d.Key), fmt.Sprint(d.From), fmt.Sprintf("-> %d", d.To), rate(d.Before), "-> "+after, "samples/s")
	}
	text := fmt.Sprintf("Settings that are auto moved while it ran: %s kept, %s taken back, for want of effect.", plural(int64(len(kept)), "move"), count(int64(undone)))
	if left > 0 {
		text += fmt.Sprintf(" %s between these are not shown.", plural(int64(left), "move"))
	}
	return wrap(text, "", "  ", width) + g.Render("  ")
}
