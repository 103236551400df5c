package report

import (
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/graph"
)

// Measures of the picture, in its own units.
const (
	svgChars  = 38 // of a line in a box
	svgChar   = 6.7
	svgBox    = svgChars*svgChar + 28
	svgColumn = svgBox + 100 // what an edge carries stands beside it
	svgLine   = 15
	svgTop    = 64
)

// spot is where a stage stands.
type spot struct {
	graph.OutlineStage
	row     int
	x, y, h float64 // left, top, height
	text    []string
	carries []string
}

func (s *spot) middle() float64 { return s.x + svgBox/2 }

// place lays the tree out: a column for each source, a row for each step; a stage stands in the middle of its inputs.
func place(o graph.Outline) (spots map[string]*spot, order []*spot, width, height float64) {
	spots = map[string]*spot{}
	columns := 0
	for _, s := range flow(o) {
		p := &spot{OutlineStage: s, text: lines(s, svgChars), carries: fields(s, 6, 44)}
		if len(takers(o, s.ID)) == 0 {
			p.carries = nil
		}
		n, sum := 0.0, 0.0
		for _, id := range s.From {
			if in := spots[id]; in != nil {
				n, sum = n+1, sum+in.x
				p.row = max(p.row, in.row+1)
			}
		}
		if n == 0 {
			p.x = 20 + float64(columns)*svgColumn
			columns++
		} else {
			p.x = sum / n
		}
		p.h = 30 + svgLine*float64(len(p.text))
		spots[s.ID] = p
		order = append(order, p)
		width = max(width, p.x+svgBox+20)
		for _, l := range p.carries {
			width = max(width, p.middle()+20+svgChar*float64(len([]rune(l))))
		}
	}
	y := float64(svgTop)
	for row := 0; ; row++ {
		most, gap, found := 0.0, 30.0, false
		for _, p := range order {
			if p.row == row {
				p.y, found = y, true
				most, gap = max(most, p.h), max(gap, 32+svgLine*float64(len(p.carries)))
			}
		}
		if !found {
			return spots, order, width, y
		}
		y += most + gap
	}
}

const svgStyle = `<style>
text{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:11px;fill:#333}
.page{fill:#fff}.box{fill:#f6f7f9;stroke:#8a93a0}.id{font-size:13px;font-weight:bold;fill:#111}
.title{font-size:15px;font-weight:bold;fill:#111}.note{fill:#5d6673}.edge{fill:none;stroke:#8a93a0;stroke-width:1.5}
.tip{fill:#8a93a0}.source{fill:#2f7d4f}.stage{fill:#3565b0}.merge{fill:#8a5bb0}.sink{fill:#b2542f}
@media (prefers-color-scheme:dark){text{fill:#c9d1d9}.page{fill:#0f1419}.box{fill:#1a2129;stroke:#57626f}.id,.title{fill:#f0f3f6}
.note{fill:#98a3b0}.edge{stroke:#6f7b88}.tip{fill:#6f7b88}.source{fill:#56b37d}.stage{fill:#6f9fe8}.merge{fill:#b992dd}.sink{fill:#e08a63}}
</style>
`

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// drawSVG draws boxes from top to bottom. Colours are those of the reader's scheme; nothing is loaded from elsewhere.
func drawSVG(o graph.Outline) string {
	spots, order, width, height := place(o)
	name := clipped(o.Pipeline, 80)
	width = max(width, svgChar*1.4*float64(len([]rune(name)))+40, svgChar*float64(len([]rune(title(o))))+40)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>pipeline %s</title>\n<desc>%s</desc>\n", xmlEscapes.Replace(name), xmlEscapes.Replace(inWords(o)))
	b.WriteString(svgStyle)
	fmt.Fprintf(&b, `<rect class="page" width="%.0f" height="%.0f"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text class="title" x="20" y="28">%s</text><text class="note" x="20" y="46">%s</text>`+"\n",
		xmlEscapes.Replace(name), xmlEscapes.Replace(title(o)))
	for _, p := range order {
		for _, id := range p.From {
			if in := spots[id]; in != nil {
				drawEdge(&b, in, p)
			}
		}
	}
	for _, p := range order {
		drawBox(&b, p)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// inWords is the picture for those who cannot see it.
func inWords(o graph.Outline) string {
	var words []string
	for _, s := range flow(o) {
		w := s.ID + " (" + s.Kind + ")"
		if len(s.From) > 0 {
			w += " from " + strings.Join(s.From, " and ")
		}
		words = append(words, w)
	}
	return strings.Join(words, "; ")
}

func drawBox(b *strings.Builder, p *spot) {
	fmt.Fprintf(b, `<g><rect class="box" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="6"/>`, p.x, p.y, svgBox, p.h)
	fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="%.1f" width="5" height="%.1f" rx="2"/>`, p.Role, p.x, p.y, p.h)
	fmt.Fprintf(b, `<text class="id" x="%.1f" y="%.1f">%s</text>`, p.x+16, p.y+19, xmlEscapes.Replace(clipped(p.ID, svgChars-4)))
	for i, l := range p.text {
		class := ""
		if i == 0 {
			class = ` class="note"`
		}
		fmt.Fprintf(b, `<text%s x="%.1f" y="%.1f">%s</text>`, class, p.x+16, p.y+20+svgLine*float64(i+1), xmlEscapes.Replace(l))
	}
	fmt.Fprintf(b, "<title>%s</title></g>\n", xmlEscapes.Replace(settingsInFull(p.OutlineStage)))
}

// settingsInFull is all of a stage, however long, for who points at it.
func settingsInFull(s graph.OutlineStage) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", s.ID, s.Kind)
	for _, x := range append(append([]graph.Setting(nil), s.Config...), s.Options...) {
		fmt.Fprintf(&b, "\n%s: %s", x.Key, clipped(x.Value, 1000))
	}
	return b.String()
}

func drawEdge(b *strings.Builder, from, to *spot) {
	x1, y1, x2, y2 := from.middle(), from.y+from.h, to.middle(), to.y-7
	if x1 == x2 {
		fmt.Fprintf(b, `<path class="edge" d="M%.1f %.1fV%.1f"/>`, x1, y1, y2)
	} else {
		turn := y2 - 12 // right above the lower row: a branch goes down in its own column
		fmt.Fprintf(b, `<path class="edge" d="M%.1f %.1fV%.1fH%.1fV%.1f"/>`, x1, y1, turn, x2, y2)
	}
	fmt.Fprintf(b, `<path class="tip" d="M%.1f %.1fl-4 -1 4 8 4 -8z"/>`, x2, y2)
	for i, l := range from.carries {
		fmt.Fprintf(b, `<text class="note" x="%.1f" y="%.1f">%s</text>`, x1+10, y1+16+svgLine*float64(i), xmlEscapes.Replace(l))
	}
	b.WriteString("\n")
}
