package main

import (
	"fmt"
	"html"
	"strings"
)

// plots are the drawings of the page, by file name. They read on light and on dark ground: text takes the colour of the
// reader's scheme, bars are of middle brightness.
func plots(all []*result) map[string]string {
	out := map[string]string{}
	if hasPlot(all) {
		out["rates.svg"] = ratesPlot(all)
	}
	for _, r := range all {
		if r.Workload == "paths" {
			out["paths.svg"] = barPlot("Memory (PSS) after an epoch over five million paths, MB", barsOf(r, func(l line) float64 { return l.PSS }))
		}
	}
	return out
}

// bar is one bar of a plot. ours is drawn in the colour of ours.
type bar struct {
	label string
	value float64
	ours  bool
}

func barsOf(r *result, of func(line) float64) (bars []bar) {
	for _, l := range r.Lines {
		if v := of(l); v > 0 {
			bars = append(bars, bar{l.Side, v, strings.HasPrefix(l.Side, "penstock")})
		}
	}
	return bars
}

func isRate(l line) bool { return strings.HasSuffix(l.Unit, "/s") }

func hasPlot(all []*result) bool {
	for _, r := range all {
		for _, l := range r.Lines {
			if isRate(l) && r.Workload == "pictures" {
				return true
			}
		}
	}
	return false
}

// ratesPlot draws the picture workloads, side below side.
func ratesPlot(all []*result) string {
	var bars []bar
	for _, r := range all {
		if r.Workload == "pictures" || r.Workload == "large" {
			for _, b := range barsOf(r, func(l line) float64 { return l.Value.Median }) {
				b.label = r.Workload + ": " + b.label
				bars = append(bars, b)
			}
		}
	}
	return barPlot("Pictures a second (median)", bars)
}

const (
	plotWidth, barLeft, barRight = 820, 330, 80
	barHeight, barStep, plotTop  = 18, 26, 44
)

func barPlot(title string, bars []bar) string {
	most := 0.0
	for _, b := range bars {
		most = max(most, b.value)
	}
	var s strings.Builder
	height := plotTop + barStep*len(bars) + 10
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n",
		plotWidth, height, plotWidth, height, html.EscapeString(title))
	s.WriteString("<style>text{font:13px sans-serif;fill:#24292f}.t{font-weight:600}.o{fill:#2f81c7}.p{fill:#8b949e}" +
		"@media (prefers-color-scheme:dark){text{fill:#e6edf3}}</style>\n")
	fmt.Fprintf(&s, `<text class="t" x="10" y="24">%s</text>`+"\n", html.EscapeString(title))
	for i, b := range bars {
		y, class := plotTop+i*barStep, "p"
		if b.ours {
			class = "o"
		}
		w := b.value / most * (plotWidth - barLeft - barRight)
		fmt.Fprintf(&s, `<text x="%d" y="%d" text-anchor="end">%s</text><rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/><text x="%.1f" y="%d">%s</text>`+"\n",
			barLeft-8, y+14, html.EscapeString(b.label), class, barLeft, y, w, barHeight, barLeft+w+6, y+14, number(b.value))
	}
	s.WriteString("</svg>\n")
	return s.String()
}
