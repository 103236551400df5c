package registry

import (
	"strconv"
	"strings"
)

// Form is the sort of a [Value].
type Form uint8

// The forms. A Free scalar has no type of its own (it came from the command line or the environment) and fits wherever
// its text does.
const (
	Plain  Form = iota // a bare word or number
	Quoted             // text in quotes: never a number, a truth value or null
	Free
	List
	Map
)

// Value is one setting as its author wrote it. Scalars keep their text, so that no number is rounded before the field
// that takes it is known.
type Value struct {
	At      any // where it stands; opaque, handed back in [Problem]
	Form    Form
	Text    string // of a scalar
	Here    bool   // a relative path is relative to the working folder, not to the spec's
	Items   []Value
	Members []Member
}

// Member is one entry of a map, in the order written.
type Member struct {
	Key   string
	At    any // where the key stands
	Value Value
}

// Problem is one thing wrong with a setting. Msg begins with the field's name.
type Problem struct {
	At    any
	Field string
	Code  string // as in graph.FieldError, or "unknown_key"
	Msg   string
	Hint  string
}

func isNull(s string) bool {
	return s == "" || s == "~" || s == "null" || s == "Null" || s == "NULL"
}

func isBool(s string) bool {
	l := strings.ToLower(s)
	return l == "true" || l == "false"
}

// scalar says whether v is one value rather than a list or a map.
func (v Value) scalar() bool { return v.Form < List }

// Null says that nothing was written: an empty value, ~ or null.
func (v Value) Null() bool { return v.Form == Plain && isNull(v.Text) }

// describe is what v is, for "got ...".
func (v Value) describe() string {
	switch {
	case v.Form == List:
		return "a list"
	case v.Form == Map:
		return "a map"
	case v.Null(), v.Form == Free && v.Text == "":
		return "nothing"
	case v.Form == Quoted:
		return "the text " + quote(v.Text)
	}
	return clip(v.Text)
}

func quote(s string) string { return strconv.Quote(clip(s)) }

// clip keeps messages short whatever a spec holds.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
