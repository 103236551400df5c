package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// version is that of report.json which this package reads.
const version = 1

// Report is one report.json.
type Report struct {
	Name string // the file, for messages
	doc  map[string]any
	text string
}

// ErrNoReport says that a text is no report.json at all.
var ErrNoReport = errors.New("not a report")

// Read takes the text of a report.json; name stands in messages. It fails with [ErrNoReport] for other texts, and for a
// version that it does not know.
func Read(name string, text []byte) (*Report, error) {
	r := &Report{Name: name, text: string(text)}
	if err := json.Unmarshal(text, &r.doc); err != nil {
		return nil, fmt.Errorf("%q is %w: %w", name, ErrNoReport, err)
	}
	got, ok := r.doc["version"].(float64)
	if _, has := r.doc["stages"].([]any); !ok || !has {
		return nil, fmt.Errorf("%q is %w: wanted version and stages; write one with: penstock run SPEC --report FILE.json", name, ErrNoReport)
	}
	if got != version {
		return nil, fmt.Errorf("%q is a report of version %v; wanted %d", name, got, version)
	}
	return r, nil
}

// PathError says that a path leads nowhere. Word is the part that was not found, Have what stands there instead.
type PathError struct {
	File, Path, Word string
	Have             []string
}

func (e *PathError) Error() string {
	have := e.Have
	if len(have) > 12 {
		have = append(slices.Clip(have[:12]), "...")
	}
	if len(have) == 0 {
		return fmt.Sprintf("path %q: there is nothing below the part before %q in %q", e.Path, e.Word, e.File)
	}
	return fmt.Sprintf("path %q: there is no %q in %q; wanted one of %s", e.Path, e.Word, e.File, strings.Join(have, ", "))
}

// at follows a dotted path: keys of objects, and in lists the id, name or epoch of an element, or its index.
func (r *Report) at(path string) (any, error) {
	var x any = r.doc
	for rest := path; rest != ""; {
		next, left, have := step(x, rest)
		if have != nil {
			word, _, _ := strings.Cut(rest, ".")
			return nil, &PathError{r.Name, path, word, have}
		}
		x, rest = next, left
	}
	return x, nil
}

// step goes one part of a path further. have is not nil where it leads nowhere.
func step(x any, path string) (next any, rest string, have []string) {
	word, rest, _ := strings.Cut(path, ".")
	switch x := x.(type) {
	case map[string]any:
		if v, ok := x[word]; ok {
			return v, rest, nil
		}
		return nil, "", keys(x)
	case []any:
		have = []string{}
		for _, e := range x {
			id := idOf(e)
			if left, ok := strings.CutPrefix(path, id); ok && id != "" && (left == "" || left[0] == '.') {
				return e, strings.TrimPrefix(left, "."), nil // an id may hold dots
			}
			if id != "" {
				have = append(have, id)
			}
		}
		if i, err := strconv.Atoi(word); err == nil && i >= 0 && i < len(x) {
			return x[i], rest, nil
		}
		return nil, "", have
	}
	return nil, "", []string{}
}

func keys(x map[string]any) []string {
	all := make([]string, 0, len(x))
	for k := range x {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// idOf is what an element of a list is called by.
func idOf(e any) string {
	m, _ := e.(map[string]any)
	for _, key := range []string{"id", "name", "epoch", "key"} {
		switch v := m[key].(type) {
		case string:
			return v
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return ""
}

// number is a figure; ok is false where it is null, or no number.
func number(x any) (v float64, ok bool) {
	switch x := x.(type) {
	case float64:
		return x, !math.IsNaN(x) && !math.IsInf(x, 0)
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// figure is the number at a path, and whether there is one.
func (r *Report) figure(path string) (float64, bool) {
	x, err := r.at(path)
	if err != nil {
		return 0, false
	}
	return number(x)
}

// word is the text of a value: what stands in JSON, without quotes; "-" for null and what is not there.
func (r *Report) word(path string) string {
	x, err := r.at(path)
	if err != nil || x == nil {
		return none
	}
	return textOf(x)
}

func textOf(x any) string {
	switch x := x.(type) {
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(x)
	case []any:
		parts := make([]string, len(x))
		for i := range x {
			parts[i] = textOf(x[i])
		}
		return strings.Join(parts, " ")
	}
	return none
}

// stages lists the ids of the stages in order.
func (r *Report) stages() []string {
	list, _ := r.doc["stages"].([]any)
	ids := make([]string, 0, len(list))
	for _, e := range list {
		if id := idOf(e); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}
