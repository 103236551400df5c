package page

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/penstock-go/penstock/graph/report/internal/words"
)

// Measures of the drawing, in pixels: a column fits a phone.
const (
	boxWidth  = 236.0
	boxHeight = 68.0
	gap       = 46.0
	lane      = 340.0
	chars     = 27
)

// spot is where a stage stands.
type spot struct {
	s    tree
	from []string
	row  int
	x, y float64
}

// flow draws the pipeline from its sources to its sink, with what went along each edge.
func (p *page) flow() template.HTML {
	spots, order := map[string]*spot{}, []*spot{}
	columns := 0
	for _, s := range p.r.at("stages").list() {
		x := &spot{s: s}
		n, sum := 0.0, 0.0
		for _, f := range s.at("from").list() {
			if in := spots[f.text()]; in != nil {
				x.from = append(x.from, f.text())
				n, sum, x.row = n+1, sum+in.x, max(x.row, in.row+1)
			}
		}
		if n == 0 {
			x.x = float64(columns) * lane
			columns++
		} else {
			x.x = sum / n
		}
		x.y = 4 + float64(x.row)*(boxHeight+gap)
		spots[s.at("id").text()] = x
		order = append(order, x)
	}
	if len(order) == 0 {
		return ""
	}
	width, height := 0.0, 0.0
	var b strings.Builder
	for _, x := range order {
		width, height = max(width, x.x+lane), max(height, x.y+boxHeight+6)
		for _, id := range x.from {
			p.edge(&b, spots[id], x)
		}
		p.box(&b, x)
	}
	var text []string
	for _, x := range order {
		w := words.Plain(x.s.at("id").text()) + " (" + words.Plain(x.s.at("kind").text()) + ")"
		if len(x.from) > 0 {
			w += " from " + words.Plain(strings.Join(x.from, " and "))
		}
		text = append(text, w)
	}
	return template.HTML(fmt.Sprintf(`<svg class="flow" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-label="%s">%s</svg>`,
		trim(width), trim(height), trim(width), trim(height), esc("the pipeline: "+strings.Join(text, "; ")), b.String()))
}

// trim1 is a number with one digit behind the point at most.
func trim1(x float64) string { return trim(math.Round(x*10) / 10) }

func esc(s string) string { return template.HTMLEscapeString(fine(s)) }

func (p *page) box(b *strings.Builder, x *spot) {
	id := x.s.at("id").text()
	class := "box"
	if p.isBottleneck(id) {
		class = "box worst"
	}
	life := x.s.at("wait_in_seconds").value() + x.s.at("busy_seconds").value() + x.s.at("wait_out_seconds").value()
	load := words.Plural(x.s.at("workers").whole(), "worker")
	share := words.Ratio(x.s.at("busy_seconds").value(), life)
	switch f := x.s.at("fused_into"); {
	case !f.null():
		load = "runs inside " + words.Plain(f.text())
	case share != nil:
		load += ", busy " + words.Percent(*share)
	}
	fmt.Fprintf(b, `<g><rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="8"/>`, class, trim(x.x+2), trim(x.y), trim(boxWidth), trim(boxHeight))
	if share != nil {
		fmt.Fprintf(b, `<rect class="%s" x="%s" y="%s" width="%s" height="5" rx="2.5"/>`, p.color(id), trim(x.x+14), trim(x.y+boxHeight-12), trim(max(2, (boxWidth-24)*min(1, *share))))
	}
	fmt.Fprintf(b, `<text class="id" x="%s" y="%s">%s</text>`, trim(x.x+14), trim(x.y+21), esc(words.Clip(words.Plain(id), chars)))
	fmt.Fprintf(b, `<text x="%s" y="%s">%s</text>`, trim(x.x+14), trim(x.y+36), esc(words.Clip(words.Plain(x.s.at("kind").text()), chars+4)))
	fmt.Fprintf(b, `<text x="%s" y="%s">%s</text></g>`, trim(x.x+14), trim(x.y+50), esc(words.Clip(load, chars+4)))
}

// edge is the way from one stage to the next, with what went along it.
func (p *page) edge(b *strings.Builder, from, to *spot) {
	x1, y1, x2, y2 := from.x+40, from.y+boxHeight, to.x+40, to.y
	path := fmt.Sprintf("M%s %sV%s", trim(x1), trim(y1), trim(y2-8))
	if x1 != x2 {
		path = fmt.Sprintf("M%s %sV%sH%sV%s", trim(x1), trim(y1), trim(y2-18), trim(x2), trim(y2-8))
	}
	fmt.Fprintf(b, `<path class="edge" d="%s"/><path class="tip" d="M%s %sl-5 -9h10z"/>`, path, trim(x2), trim(y2-1))
	var parts []string
	if r := words.Ratio(from.s.at("items_out").value(), p.r.at("totals.seconds").value()); r != nil {
		parts = append(parts, words.Rate(*r)+" items/s")
	}
	if n := from.s.at("bytes_out"); !n.null() {
		if r := words.Ratio(n.value(), p.r.at("totals.seconds").value()); r != nil {
			parts = append(parts, words.Size(words.Whole(*r))+"/s")
		}
	}
	if q := from.s.at("queue.mean"); !q.null() && !from.s.at("buffer").null() {
		parts = append(parts, trim1(q.value())+" of "+words.Count(from.s.at("buffer").whole())+" queued")
	}
	for i, t := range []string{strings.Join(parts[:min(2, len(parts))], ", "), strings.Join(parts[min(2, len(parts)):], ", ")} {
		fmt.Fprintf(b, `<text class="note" x="%s" y="%s">%s</text>`, trim(x1+12), trim(y1+17+float64(i)*15), esc(t))
	}
}
