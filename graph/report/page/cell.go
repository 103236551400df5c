package page

import (
	"strings"

	"github.com/penstock-go/penstock/graph/report/internal/words"
)

// cell is a figure or a text of the report on the page: where it stands there, what it is exactly, and what is shown.
type cell struct {
	Path, Value, Text string
	Head, Left        bool
	Bar               int // share that is drawn behind it, in percent; 0: none
}

// none stands for a figure that does not exist.
const none = "–"

func show(t tree, text string) cell {
	if t.null() {
		text = none
	}
	return cell{Path: t.path, Value: exact(t.raw()), Text: strings.ReplaceAll(text, " us", " µs")}
}

// exact is a text as it is, unless there is something in it that HTML does not allow.
func exact(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == '\uFFFD' }) < 0 {
		return s
	}
	return words.Plain(s)
}

func seconds(t tree) cell { return show(t, words.Seconds(t.value())) }
func count(t tree) cell   { return show(t, words.Count(t.whole())) }
func percent(t tree) cell { return show(t, words.Percent(t.value())) }
func size(t tree) cell    { return show(t, words.Size(t.whole())) }
func rate(t tree) cell    { return show(t, words.Rate(t.value())) }
func digits(t tree) cell  { return show(t, words.Digits(t.value(), 3)) }

// literal is a text or a figure as it is. Control characters are made visible.
func literal(t tree) cell {
	c := show(t, words.Plain(t.raw()))
	c.Left = true
	return c
}

// head is a name that the rest of its row is about.
func head(t tree) cell {
	c := literal(t)
	c.Head = true
	return c
}

// of is a figure shown as its share of a whole, with a bar.
func of(t tree, whole float64) cell {
	r := words.Ratio(t.value(), whole)
	if r == nil || t.null() {
		return seconds(t)
	}
	c := show(t, words.Percent(*r))
	c.Bar = int(min(*r, 1)*100 + 0.5)
	return c
}

// guess shows a value of which only the name is known.
func guess(t tree) cell {
	key := t.path[strings.LastIndex(t.path, ".")+1:]
	if _, ok := t.number(); !ok {
		return literal(t)
	}
	switch {
	case strings.HasSuffix(key, "seconds"):
		return seconds(t)
	case strings.HasSuffix(key, "bytes_per_second"):
		return show(t, words.Size(t.whole())+"/s")
	case strings.HasSuffix(key, "bytes"), key == "limit":
		return size(t)
	case strings.HasSuffix(key, "share"), strings.HasSuffix(key, "ratio"):
		return percent(t)
	}
	return digits(t)
}
