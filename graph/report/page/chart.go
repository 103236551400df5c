package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph/report/internal/words"
)

// bar is the blame of one phase.
type bar struct {
	Name, Time string
	Width      int // of the longest, in percent
	Picture    template.HTML
	Legend     []mark
}

// blame draws a stacked bar for each phase: as long as the phase was waited in, one part for each stage and cause.
func (p *page) blame() (bars []bar) {
	phases := []struct{ key, name string }{{"startup", "start-up"}, {"steady", "steady"}, {"epoch_edge", "epoch edges"}}
	longest := 0.0
	for _, ph := range phases {
		longest = math.Max(longest, p.r.at("sink.phases."+ph.key).value())
	}
	for _, ph := range phases {
		whole := p.r.at("sink.phases." + ph.key).value()
		all := slices.DeleteFunc(p.r.at("blame").list(), func(b tree) bool { return b.at("phase").text() != ph.key || b.at("seconds").value() <= 0 })
		if whole <= 0 || len(all) == 0 {
			continue
		}
		slices.SortStableFunc(all, func(a, b tree) int {
			switch x, y := a.at("seconds").value(), b.at("seconds").value(); {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return 0
		})
		b := bar{Name: ph.name, Time: fine(words.Seconds(whole)), Width: max(2, int(100*whole/longest+0.5))}
		var in strings.Builder
		at, shown := 0.0, 0
		for _, x := range all {
			share := x.at("seconds").value() / whole
			color := p.blameColor(x)
			fmt.Fprintf(&in, `<rect class="%s" x="%s" width="%s" height="10"/>`, color, trim(100*at), trim(100*share))
			at += share
			b.Legend = append(b.Legend, mark{color, p.blameName(x), fine(words.Seconds(x.at("seconds").value())) + ", " + words.Percent(share)})
			if share >= 0.005 {
				shown++
			}
		}
		text := fmt.Sprintf("%s: %s waited; %s", b.Name, b.Time, legendText(b.Legend))
		b.Picture = picture("stack", 100, 10, text, in.String())
		if shown = max(1, min(shown, 8)); len(b.Legend) > shown {
			b.Legend = append(b.Legend[:shown:shown], mark{Name: "", Text: fmt.Sprintf("and %d more in the table", len(b.Legend)-shown)})
		}
		bars = append(bars, b)
	}
	return bars
}

func legendText(all []mark) string {
	parts := make([]string, len(all))
	for i, m := range all {
		parts[i] = m.Name + " " + m.Text
	}
	return strings.Join(parts, "; ")
}

// blameColor is that of the stage; what no stage is at fault for has none of its own.
func (p *page) blameColor(b tree) string {
	switch b.at("cause").text() {
	case "start", "end", "unattributed":
		return "sn"
	}
	return p.color(b.at("stage").text())
}

func (p *page) blameName(b tree) string {
	if b.at("stage").null() {
		return b.at("cause").text()
	}
	return p.name(b.at("stage")) + " (" + b.at("cause").text() + ")"
}

// spread is how the single waits are distributed.
type spread struct {
	Picture template.HTML
	Width   int // in pixels, at most
	Labels  []string
	Text    string
}

// bounds are the lower ends of the bars of a distribution: three in each decade.
func bounds() (all []float64) {
	for x := 1e-6; x < 2e4; x *= 10 {
		all = append(all, x, 2*x, 5*x)
	}
	return all
}

func (p *page) spread() spread {
	limits := bounds()
	counts := make([]float64, len(limits)+1) // bar i holds what is below limits[i]
	total, first, last, zero := 0.0, len(counts), -1, 0.0
	for _, b := range p.r.at("sink.waits.buckets").list() {
		n, upto := b.at("count").value(), b.at("upto").value()
		total += n
		if upto == 0 {
			zero += n
			continue
		}
		i, _ := slices.BinarySearch(limits, upto)
		counts[i] += n
		first, last = min(first, i), max(last, i)
	}
	if total == 0 {
		return spread{}
	}
	s := spread{Text: fmt.Sprintf("%s of %s waits took no time", words.Percent(zero/total), words.Count(words.Whole(total)))}
	if last < 0 {
		return s
	}
	most := slices.Max(counts)
	var in strings.Builder
	for i := first; i <= last; i++ {
		h := 100 * counts[i] / most
		if counts[i] > 0 {
			h = math.Max(h, 1.5)
		}
		fmt.Fprintf(&in, `<rect class="busy" x="%s" y="%s" width=".86" height="%s"/>`, trim(float64(i-first)+.07), trim(100-h), trim(h))
		s.Labels = append(s.Labels, p.under(limits, i))
	}
	s.Width = max(160, 72*(last-first+1))
	w := p.r.at("sink.waits")
	text := fmt.Sprintf("distribution of the waits: half are at most %s, 95 of 100 at most %s, the longest %s; %s",
		fine(words.Seconds(w.at("p50").value())), fine(words.Seconds(w.at("p95").value())), fine(words.Seconds(w.at("max").value())), s.Text)
	s.Picture = picture("spread", float64(last-first+1), 100, text, in.String())
	return s
}

func (p *page) under(limits []float64, i int) string {
	if i >= len(limits) {
		return "more"
	}
	return fine(words.Seconds(limits[i]))
}
