package report

import (
	"cmp"
	"slices"

	"github.com/penstock-go/penstock/graph"
)

// behind is a straggler and its stage.
type behind struct {
	stage *graph.StageStats
	item  graph.Straggler
}

// stragglers are the items of all stages that others waited behind for longest, as far as that is many times what an
// item of the stage takes.
func (j *judge) stragglers() []behind {
	var all []behind
	for _, r := range j.m.all {
		mean := r.stage.Service.Mean
		for _, x := range r.stage.Stragglers {
			if mean > 0 && x.Held >= standsOut*mean {
				all = append(all, behind{r.stage, x})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b behind) int { return cmp.Compare(b.item.Held, a.item.Held) })
	return all[:min(len(all), 5)]
}

// stillness is for how long workers stood still behind an item; "" where none did.
func (b *behind) stillness() string {
	if b.item.Blocked == 0 {
		return ""
	}
	return "workers stood still " + duration(b.item.Blocked)
}

func (j *judge) heldUp() string {
	all := j.stragglers()
	if len(all) == 0 {
		return ""
	}
	g := grid{Left: []bool{true, false, true, true}}
	for _, x := range all {
		g.Add(clip(plain(x.stage.ID), 24), tight(duration(x.item.Held)), x.stillness(), clip(plain(x.item.Key), 36))
	}
	return "What finished items waited behind, as order is kept:\n" + g.Render("  ")
}
