package words

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Width is the longest line of a text report.
const Width = 100

// Grid is a table of aligned columns, two spaces apart.
type Grid struct {
	Left []bool // columns that are aligned to the left; the others to the right
	Rows [][]string
}

// Add appends a row.
func (g *Grid) Add(cells ...string) { g.Rows = append(g.Rows, cells) }

// Render renders the grid. Every line begins with indent; spaces at ends are cut off.
func (g *Grid) Render(indent string) string {
	var b strings.Builder
	w := g.widths()
	for _, row := range g.Rows {
		line := indent
		for i, cell := range row {
			if i > 0 {
				line += "  "
			}
			pad := strings.Repeat(" ", w[i]-utf8.RuneCountInString(cell))
			if i < len(g.Left) && g.Left[i] {
				line += cell + pad
			} else {
				line += pad + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func (g *Grid) widths() []int {
	var w []int
	for _, row := range g.Rows {
		for i, cell := range row {
			if i == len(w) {
				w = append(w, 0)
			}
			w[i] = max(w[i], utf8.RuneCountInString(cell))
		}
	}
	return w
}

// Fit clips columns, in this order and each to its least width, until a line is at most room wide.
func (g *Grid) Fit(room int, least map[int]int, order ...int) {
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
		for _, row := range g.Rows {
			row[col] = Clip(row[col], to)
		}
	}
}

// Markdown renders the grid as a table; its first row is the head.
func (g *Grid) Markdown() string {
	var b strings.Builder
	for i, row := range g.Rows {
		cells := slices.Clone(row)
		for k := range cells {
			cells[k] = strings.ReplaceAll(cells[k], "|", `\|`)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if i > 0 {
			continue
		}
		for k := range row {
			if k < len(g.Left) && g.Left[k] {
				b.WriteString("|:---")
			} else {
				b.WriteString("|---:")
			}
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// Escape keeps names from being read as marks of Markdown.
func Escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[", `\[`, "#", `\#`).Replace(s)
}
