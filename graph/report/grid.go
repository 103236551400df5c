package report

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// width is the longest line of a text report.
const width = 100

// grid is a table of aligned columns, two spaces apart.
type grid struct {
	left []bool // columns that are aligned to the left; the others to the right
	rows [][]string
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// String renders the grid. Every line begins with indent; spaces at ends are cut off.
func (g *grid) render(indent string) string {
	var b strings.Builder
	w := g.widths()
	for _, row := range g.rows {
		line := indent
		for i, cell := range row {
			if i > 0 {
				line += "  "
			}
			pad := strings.Repeat(" ", w[i]-utf8.RuneCountInString(cell))
			if i < len(g.left) && g.left[i] {
				line += cell + pad
			} else {
				line += pad + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func (g *grid) widths() []int {
	var w []int
	for _, row := range g.rows {
		for i, cell := range row {
			if i == len(w) {
				w = append(w, 0)
			}
			w[i] = max(w[i], utf8.RuneCountInString(cell))
		}
	}
	return w
}

// fit clips columns, in this order and each to its least width, until a line is at most room wide.
func (g *grid) fit(room int, least map[int]int, order ...int) {
	for _, col := range order {
		w := g.widths()
		total := 2 * (len(w) - 1)
		for _, n := range w {
			total += n
		}
		if total <= room {
			return
		}
		to := max(least[col], w[col]-(total-room))
		for _, row := range g.rows {
			row[col] = clip(row[col], to)
		}
	}
}

// markdown renders the grid as a table; its first row is the head.
func (g *grid) markdown() string {
	var b strings.Builder
	for i, row := range g.rows {
		cells := slices.Clone(row)
		for k := range cells {
			cells[k] = strings.ReplaceAll(cells[k], "|", `\|`)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if i > 0 {
			continue
		}
		for k := range row {
			if k < len(g.left) && g.left[k] {
				b.WriteString("|:---")
			} else {
				b.WriteString("|---:")
			}
		}
		b.WriteString("|\n")
	}
	return b.String()
}
