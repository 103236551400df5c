package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/graph/report/internal/words"
)

// tree is a value of a report and the way to it: "stages.3.busy_seconds". What is not there is a null.
type tree struct {
	path string
	v    any
}

// parse reads a report. Figures stay as they are written.
func parse(text []byte) (tree, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return tree{}, fmt.Errorf("page: this is no report: %w", err)
	}
	t := tree{v: v}
	if n := t.at("version").raw(); n != "1" {
		return tree{}, fmt.Errorf("page: wanted a report of version 1, got %q", n)
	}
	return t, nil
}

// at goes down a path.
func (t tree) at(path string) tree {
	for key := range strings.SplitSeq(path, ".") {
		m, _ := t.v.(map[string]any)
		t = t.under(key, m[key])
	}
	return t
}

func (t tree) under(key string, v any) tree {
	if t.path != "" {
		key = t.path + "." + key
	}
	return tree{key, v}
}

// list is what a list holds.
func (t tree) list() []tree {
	all, _ := t.v.([]any)
	out := make([]tree, len(all))
	for i, v := range all {
		out[i] = t.under(strconv.Itoa(i), v)
	}
	return out
}

// numbers is a list of figures; those that are null are 0 and not known.
func (t tree) numbers() (all []float64, known []bool) {
	for _, x := range t.list() {
		n, ok := x.number()
		all, known = append(all, n), append(known, ok)
	}
	return all, known
}

func (t tree) null() bool { return t.v == nil }

func (t tree) number() (float64, bool) {
	n, ok := t.v.(json.Number)
	if !ok {
		return 0, false
	}
	x, err := n.Float64()
	if err != nil {
		return 0, false
	}
	return x, true
}

// value is a figure, 0 where there is none.
func (t tree) value() float64 {
	x, _ := t.number()
	return x
}

func (t tree) whole() int64 { return words.Whole(t.value()) }

func (t tree) text() string {
	s, _ := t.v.(string)
	return s
}

// raw is the value as it stands in the report, without quotes; "" for null.
func (t tree) raw() string {
	switch v := t.v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	b, _ := json.Marshal(t.v)
	return string(b)
}
