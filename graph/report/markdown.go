package report

import (
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/graph"
)

// Markdown is the report for an issue or a pull request: the verdict, the table of stages, the blame, the evidence.
func Markdown(s graph.Snapshot) string {
	j := newJudge(clean(s))
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n**%s**\n\n", escape(plain(j.s.Pipeline)), escape(j.v.Sentence))
	b.WriteString(escape(strings.TrimSpace(j.head())) + "\n")
	if len(j.s.Stages) > 0 {
		b.WriteString("\n## Stages\n\n" + j.stageRows().Markdown())
	}
	if len(j.blame) > 0 {
		fmt.Fprintf(&b, "\n## Why %s waited\n\n", escape(name(j.sink())))
		g := grid{Left: []bool{true, true}}
		g.Add("stage", "cause", "time", "share of "+j.phaseWord())
		for _, c := range j.blame {
			g.Add(escape(who(c.stage)), c.words(), seconds(c.time), percent(c.share))
		}
		b.WriteString(g.Markdown())
	}
	for _, m := range j.s.Mix {
		fmt.Fprintf(&b, "\n## What %s mixed\n\n", escape(name(m.ID)))
		g := mixGrid(m, func(s string) string { return escape(plain(s)) })
		b.WriteString(g.Markdown())
	}
	j.list(&b, "What this rests on", j.v.Evidence)
	var items []string
	for _, x := range j.slow() {
		items = append(items, fmt.Sprintf("%s: %s, %s (%s x the mean)", name(x.stage.ID), plain(x.item.Key),
			duration(x.item.Time), digits(x.times, 2)))
	}
	j.list(&b, "Slowest items", items)
	items = nil
	for _, x := range j.stragglers() {
		line := fmt.Sprintf("%s: %s, %s", name(x.stage.ID), plain(x.item.Key), duration(x.item.Held))
		if still := x.stillness(); still != "" {
			line += " (" + still + ")"
		}
		items = append(items, line)
	}
	j.list(&b, "What finished items waited behind", items)
	for _, part := range []string{j.moved(), j.lost(), j.again(), j.devices(), j.caches(), j.memory(false)} {
		if part != "" {
			b.WriteString("\n" + escape(part))
		}
	}
	if g, note := j.estimate(); g != nil {
		b.WriteString("\n" + g.Markdown() + "\n" + escape(note) + "\n")
	}
	j.list(&b, "Warnings", warnings(&j.s))
	return b.String()
}

func (j *judge) list(b *strings.Builder, head string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", head)
	for _, line := range lines {
		b.WriteString("- " + escape(plain(line)) + "\n")
	}
}

// stageRows is the table of stages with one line as head.
func (j *judge) stageRows() *grid {
	g := &grid{Left: []bool{true, true}}
	g.Add("stage", "kind", "workers", "items in", "items out", "wait in", "busy", "wait out", "mean", "p95",
		"can do, samples/s", "queue")
	for i := range j.m.all {
		cells := j.row(i)
		mark := cells[0]
		cells = cells[1:]
		switch cells[0], cells[1] = escape(cells[0]), escape(cells[1]); mark {
		case ">":
			cells[0] = "**" + cells[0] + "**"
		case "+":
			cells[0] = "+ " + cells[0]
		}
		g.Rows = append(g.Rows, cells)
	}
	return g
}
