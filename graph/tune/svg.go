package tune

import (
	"fmt"
	"html"
	"strings"
)

// Sizes of a panel, in pixels.
const (
	panelWide, panelHigh = 520, 240
	left, right          = 64, 64
	above, below         = 44, 36
)

// SVG draws the curves below each other, one panel a knob: throughput with the spread of its trials against the left
// axis, memory dashed against the right one, the knee ringed. It follows light and dark, and says in words what it shows.
func SVG(curves []Curve) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="sans-serif" font-size="12">`+"\n",
		panelWide, panelHigh*max(1, len(curves)), panelWide, panelHigh*max(1, len(curves)))
	b.WriteString("<title>Throughput and memory by setting</title>\n<style>text{stroke:none!important}svg{background:#fff;color:#222}.rate{stroke:#0a5bb5;fill:#0a5bb5}.ram{stroke:#b0530a;fill:#b0530a}" +
		"@media (prefers-color-scheme:dark){svg{background:#161616;color:#ddd}.rate{stroke:#7db8ff;fill:#7db8ff}.ram{stroke:#ffb27d;fill:#ffb27d}}</style>\n")
	for i, c := range curves {
		fmt.Fprintf(&b, `<g transform="translate(0 %d)">`+"\n", i*panelHigh)
		panel(&b, c)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func panel(b *strings.Builder, c Curve) {
	text := func(x, y float64, anchor, class, s string) {
		fmt.Fprintf(b, `<text x="%.0f" y="%.0f" text-anchor="%s" class="%s" stroke="none" fill="currentColor">%s</text>`+"\n", x, y, anchor, class, html.EscapeString(s))
	}
	fmt.Fprintf(b, "<desc>%s</desc>\n", html.EscapeString(c.sentence()))
	text(left, 18, "start", "", c.Name())
	text(left, 34, "start", "", c.Why)
	rates, ram := 1e-12, 1.0
	for _, p := range c.Points {
		rates, ram = max(rates, p.High), max(ram, float64(p.RSS))
	}
	x := func(i int) float64 {
		return left + float64(panelWide-left-right)*(float64(i)+0.5)/float64(max(1, len(c.Points)))
	}
	y := func(part float64) float64 { return panelHigh - below - part*float64(panelHigh-above-below) }
	fmt.Fprintf(b, `<path d="M%d %dV%d H%d V%d" fill="none" stroke="currentColor" opacity="0.5"/>`+"\n", left, above, panelHigh-below, panelWide-right, above)
	text(left-6, y(1)+4, "end", "rate", figure(rates))
	text(left-6, y(0)+4, "end", "rate", "0")
	text(panelWide-right+6, y(1)+4, "start", "ram", size(ram))
	text(left-6, y(0.5)+4, "end", "rate", "/s")
	text(panelWide-right+6, y(0.5)+4, "start", "ram", "RAM")
	var rate, mem []string
	for i, p := range c.Points {
		rate = append(rate, fmt.Sprintf("%.1f,%.1f", x(i), y(p.Rate/rates)))
		mem = append(mem, fmt.Sprintf("%.1f,%.1f", x(i), y(float64(p.RSS)/ram)))
		fmt.Fprintf(b, `<path class="rate" d="M%.1f %.1fV%.1f"/>`+"\n", x(i), y(p.Low/rates), y(p.High/rates))
		radius := 3
		if i == c.Knee {
			fmt.Fprintf(b, `<circle class="rate" cx="%.1f" cy="%.1f" r="7" style="fill:none"/>`+"\n", x(i), y(p.Rate/rates))
		}
		fmt.Fprintf(b, `<circle class="rate" cx="%.1f" cy="%.1f" r="%d"/>`+"\n", x(i), y(p.Rate/rates), radius)
		text(x(i), panelHigh-below+16, "middle", "", p.Value)
	}
	fmt.Fprintf(b, `<polyline class="rate" points="%s" style="fill:none"/>`+"\n", strings.Join(rate, " "))
	fmt.Fprintf(b, `<polyline class="ram" points="%s" style="fill:none" stroke-dasharray="4 3"/>`+"\n", strings.Join(mem, " "))
}

// sentence is a curve in words.
func (c Curve) sentence() string {
	var parts []string
	for _, p := range c.Points {
		parts = append(parts, fmt.Sprintf("%s: %s samples/s, %s", p.Value, figure(p.Rate), size(float64(p.RSS))))
	}
	s := c.Name() + ". " + strings.Join(parts, "; ")
	if len(c.Points) > 0 {
		s += ". Knee at " + c.Points[c.Knee].Value + ": " + c.Why
	}
	if c.Worse != "" {
		s += ". " + c.Worse
	}
	return s
}
