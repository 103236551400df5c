package registry

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-go/penstock/graph"
)

// fault is what is wrong with one value. msg follows the field's name.
type fault struct {
	code, msg, hint string
	where           any    // nil: at the field's value
	index           string // "[2]" within a list
}

func (e *fault) of(i int) *fault {
	e.index = fmt.Sprintf("[%d]", i) + e.index
	return e
}

func (e *fault) at(where any) *fault {
	if e.where == nil {
		e.where = where
	}
	return e
}

func (e *fault) text(field string) string { return field + e.index + e.msg }

func wrongType(wanted string, v Value, hint string) *fault {
	return &fault{code: "field_type", msg: ": wanted " + wanted + ", got " + v.describe(), hint: hint}
}

// bare checks that v is a word or number that was not put in quotes.
func bare(v Value, wanted string) *fault {
	switch {
	case v.Null():
		return wrongType(wanted, v, "leave the key out for the default")
	case v.Form == Quoted:
		return wrongType(wanted, v, "take the quotes away")
	case !v.scalar():
		return wrongType(wanted, v, "")
	}
	return nil
}

func readInt64(v Value) (int64, *fault) {
	n, e := readWhole(v, "a whole number")
	if e != nil {
		return 0, e
	}
	i, err := strconv.ParseInt(n, 10, 64)
	if err != nil {
		return 0, &fault{code: "field_range", msg: ": " + clip(n) + " does not fit in 64 bits"}
	}
	return i, nil
}

func readInt(v Value) (int, *fault) {
	i, e := readInt64(v)
	if e == nil && int64(int(i)) != i {
		e = &fault{code: "field_range", msg: ": " + v.Text + " is too large for this machine"}
	}
	return int(i), e
}

func readUint64(v Value) (uint64, *fault) {
	n, e := readWhole(v, "a whole number from 0")
	if e != nil {
		return 0, e
	}
	if n[0] == '-' {
		return 0, &fault{code: "field_range", msg: " must be at least 0, got " + clip(n)}
	}
	i, err := strconv.ParseUint(n, 10, 64)
	if err != nil {
		return 0, &fault{code: "field_range", msg: ": " + clip(n) + " does not fit in 64 bits"}
	}
	return i, nil
}

// readWhole accepts decimal digits only: other forms mean different numbers to different readers of YAML.
func readWhole(v Value, wanted string) (string, *fault) {
	if e := bare(v, wanted); e != nil {
		return "", e
	}
	s := v.Text
	if isWhole(s) {
		return s, nil
	}
	hint := ""
	switch plain := strings.ReplaceAll(strings.TrimPrefix(s, "+"), "_", ""); {
	case !isNumber(s):
	case len(plain) > 20:
		hint = "write it in decimal digits"
	case isWhole(plain):
		hint = "write " + plain
	case isFloat(plain) && (plain[0] != '0' || strings.ContainsAny(plain, ".eE")):
		if x, err := strconv.ParseFloat(plain, 64); err == nil && x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			hint = "write " + strconv.FormatInt(int64(x), 10)
		}
	case plain[0] == '0':
		hint = otherBase(plain)
	}
	return "", wrongType(wanted+" in decimal digits", v, hint)
}

// otherBase says what 0777, 0o17 or 0x1F might mean: for a leading zero that depends on the reader.
func otherBase(s string) string {
	if dec := strings.TrimLeft(s, "0"); isWhole(dec) {
		if oct, err := strconv.ParseInt(dec, 8, 64); err == nil {
			return fmt.Sprintf("write %s, or %d if octal was meant", dec, oct)
		}
		return "write " + dec
	}
	if i, err := strconv.ParseInt(s, 0, 64); err == nil {
		return "write " + strconv.FormatInt(i, 10)
	}
	return ""
}

func readFloat(v Value) (float64, *fault) {
	if e := bare(v, "a number"); e != nil {
		return 0, e
	}
	s := v.Text
	whole, _, _ := strings.Cut(strings.TrimLeft(s, "+-"), ".")
	if !isFloat(s) || len(whole) > 1 && whole[0] == '0' {
		return 0, wrongType("a number such as 0.5 or 1e-3", v, "")
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, &fault{code: "field_range", msg: ": " + clip(s) + " is too large"}
	}
	return x, nil
}

func readBool(v Value) (bool, *fault) {
	if e := bare(v, "true or false"); e != nil {
		return false, e
	}
	switch v.Text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	hint := ""
	switch strings.ToLower(v.Text) {
	case "on", "yes", "y", "true", "1":
		hint = "write true"
	case "off", "no", "n", "false", "0":
		hint = "write false"
	}
	return false, wrongType("true or false", v, hint)
}

// readText refuses bare words that are not text to a reader of YAML, since another tool would change them.
func readText(v Value, _ string) (string, *fault) {
	switch {
	case v.Null():
		return "", wrongType("text", v, "leave the key out for the default")
	case !v.scalar():
		return "", wrongType("text", v, "")
	case v.Form == Plain && isBool(v.Text):
		return "", wrongType("text", v, "put it in quotes")
	case v.Form == Plain && isNumber(v.Text):
		return "", &fault{code: "field_type", msg: ": wanted text, got the number " + clip(v.Text), hint: "put it in quotes"}
	case strings.ContainsRune(v.Text, 0):
		return "", &fault{code: "field_value", msg: ": a text must not hold a zero byte"}
	}
	return v.Text, nil
}

// readWord is for choices: their words are known, so quotes do not matter.
func readWord(v Value) (string, *fault) {
	if v.Null() {
		return "", wrongType("a word", v, "leave the key out for the default")
	}
	if !v.scalar() {
		return "", wrongType("a word", v, "")
	}
	return v.Text, nil
}

func readPath(v Value, dir string) (string, *fault) {
	s, e := readText(v, dir)
	if e != nil || s == "" || dir == "" || v.Here || filepath.IsAbs(s) || strings.Contains(s, "://") {
		return s, e
	}
	return filepath.Join(dir, s), nil
}

func readSize(v Value) (int64, *fault) {
	if v.Null() || !v.scalar() {
		return 0, wrongType("a size such as 64MiB", v, "")
	}
	n, err := ParseSize(v.Text)
	if err != nil {
		return 0, &fault{code: "field_type", msg: ": " + err.Error()}
	}
	if n < 0 {
		return 0, &fault{code: "field_range", msg: ": a size must not be negative, got " + v.Text}
	}
	return n, nil
}

func readDuration(v Value) (time.Duration, *fault) {
	if v.Null() || !v.scalar() {
		return 0, wrongType("a time such as 5ms", v, "")
	}
	d, err := ParseDuration(v.Text)
	if err != nil {
		return 0, &fault{code: "field_type", msg: ": " + err.Error()}
	}
	return d, nil
}

func readTime(v Value) (graph.Time, *fault) {
	if v.Form != Map {
		d, e := readDuration(v)
		return graph.Fixed(d), e
	}
	if len(v.Members) != 1 {
		return graph.Time{}, &fault{code: "field_type",
			msg: fmt.Sprintf(": wanted one of normal, lognormal or uniform, got %d keys", len(v.Members))}
	}
	m := v.Members[0]
	var t graph.Time
	var parts []part
	switch t.Shape = m.Key; m.Key {
	case "normal":
		parts = []part{{"mean", &t.A, nil}, {"stddev", &t.B, nil}}
	case "lognormal":
		parts = []part{{"mean", &t.A, nil}, {"sigma", nil, &t.Sigma}}
	case "uniform":
		parts = []part{{"min", &t.A, nil}, {"max", &t.B, nil}}
	default:
		shapes := []string{"normal", "lognormal", "uniform"}
		return t, (&fault{code: "unknown_key", msg: fmt.Sprintf(": unknown distribution %s, wanted normal, lognormal or uniform",
			quote(m.Key)), hint: meant(m.Key, shapes)}).at(m.At)
	}
	return t, readParts(m, parts)
}

// part is one number of a distribution: a time or a plain number.
type part struct {
	key string
	d   *time.Duration
	x   *float64
}

func readParts(m Member, parts []part) *fault {
	keys := make([]string, len(parts))
	for i, p := range parts {
		keys[i] = p.key
	}
	wanted := "{" + strings.Join(keys, ", ") + "}"
	if m.Value.Form != Map {
		return wrongType(m.Key+": "+wanted, m.Value, "").at(m.Value.At)
	}
	given := map[string]bool{}
	for _, k := range m.Value.Members {
		i := indexOf(keys, k.Key)
		if i < 0 {
			return (&fault{code: "unknown_key", msg: fmt.Sprintf(": unknown key %s of %s, wanted %s", quote(k.Key), m.Key, wanted),
				hint: meant(k.Key, keys)}).at(k.At)
		}
		var e *fault
		if given[k.Key] = true; parts[i].d != nil {
			*parts[i].d, e = readDuration(k.Value)
		} else {
			*parts[i].x, e = readFloat(k.Value)
		}
		if e != nil {
			e.index = "." + m.Key + "." + k.Key + e.index
			return e.at(k.Value.At)
		}
	}
	for _, k := range keys {
		if !given[k] {
			return &fault{code: "field_missing", msg: fmt.Sprintf(": %s needs %s, %s is missing", m.Key, wanted, k)}
		}
	}
	return nil
}

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

// meant is a hint that names the key that was probably meant, or all of them if they are few.
func meant(word string, names []string) string {
	if n := Near(word, names); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}

func inRange(rules []Rule, x float64, u unit) *fault {
	for _, r := range rules {
		if !r.admits(x) {
			return &fault{code: "field_range", msg: " must be " + r.text(u) + ", got " + u(x)}
		}
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return &fault{code: "field_range", msg: fmt.Sprintf(" must be a finite number, got %v", x)}
	}
	return nil
}

func inLength(rules []Rule, n int, what string) *fault {
	for _, r := range rules {
		if !r.admitsLength(n) {
			return &fault{code: "field_range", msg: fmt.Sprintf(" must be %s, got %d %s", r.text(plainUnit), n, what)}
		}
	}
	return nil
}

func oneOf(s string, choices []string) *fault {
	if indexOf(choices, s) >= 0 {
		return nil
	}
	return &fault{code: "field_value", msg: fmt.Sprintf(" must be one of %s, got %s", strings.Join(choices, ", "), quote(s)),
		hint: meant(s, choices)}
}

func quoteDefault(s string) string {
	if s == "" {
		return `""`
	}
	return s
}

func listText[E any](l []E) string {
	parts := make([]string, len(l))
	for i, x := range l {
		parts[i] = fmt.Sprint(x)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (e *fault) problem(field string) Problem {
	return Problem{At: e.where, Field: field, Code: e.code, Msg: e.text(field), Hint: e.hint}
}
