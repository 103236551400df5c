package registry

import (
	"slices"
	"strconv"

	"github.com/penstock-go/penstock/graph"
)

// Type is what a field takes.
type Type string

// The types of fields.
const (
	TypeInt    Type = "whole number"
	TypeUint   Type = "whole number from 0"
	TypeFloat  Type = "number"
	TypeBool   Type = "true or false"
	TypeText   Type = "text"
	TypeChoice Type = "one of"
	TypePath   Type = "path"
	TypePaths  Type = "list of paths"
	TypeTexts  Type = "list of texts"
	TypeTime   Type = "time"
	TypeSize   Type = "size"
	TypeFloats Type = "list of numbers"
	TypeInts   Type = "list of whole numbers"
	// TypeSources are sources within a source.
	TypeSources Type = "list of sources"
)

// Field describes one field of a kind. Documentation, JSON Schema, decoding and checks are made from it.
type Field struct {
	Name    string
	Type    Type
	Default string // as a spec would write it
	Doc     string
	Rules   []Rule
	Choices []string

	unit  unit
	empty bool // the default is the zero value
	set   func(v Value, dir string) *fault
	// nested takes the place of set in a field that names kinds of the catalog. It does not stop at the first problem.
	nested func(v Value, dir string, c *Catalog) []Problem
	zero   func() bool
	fill   func()
	check  func() *fault
}

// Required says whether the field must be given.
func (f Field) Required() bool { return has(f.Rules, required) }

// Limits lists the rules in words: "at least 1".
func (f Field) Limits() []string {
	var l []string
	for _, r := range f.Rules {
		if r.kind != required {
			l = append(l, r.text(f.unit))
		}
	}
	return l
}

// Fields collects the fields of a kind while its Bind runs. Each method names a field once: where its value goes, its
// key, default, one line of documentation and rules.
type Fields struct {
	list []Field
}

func fieldsOf[C any](c *C, bind func(*C, *Fields)) []Field {
	f := &Fields{}
	if bind != nil {
		bind(c, f)
	}
	return f.list
}

// Int is a whole number.
func (f *Fields) Int(p *int, key string, def int, doc string, rules ...Rule) {
	number(f, TypeInt, p, key, def, doc, rules, readInt, strconv.Itoa(def))
}

// Int64 is a whole number of 64 bits.
func (f *Fields) Int64(p *int64, key string, def int64, doc string, rules ...Rule) {
	number(f, TypeInt, p, key, def, doc, rules, readInt64, strconv.FormatInt(def, 10))
}

// Uint64 is a whole number from 0, exact to 64 bits.
func (f *Fields) Uint64(p *uint64, key string, def uint64, doc string, rules ...Rule) {
	number(f, TypeUint, p, key, def, doc, rules, readUint64, strconv.FormatUint(def, 10))
}

// Float is a finite number.
func (f *Fields) Float(p *float64, key string, def float64, doc string, rules ...Rule) {
	number(f, TypeFloat, p, key, def, doc, rules, readFloat, plainUnit(def))
}

// Size is a number of bytes, written "64MiB".
func (f *Fields) Size(p *int64, key string, def int64, doc string, rules ...Rule) {
	number(f, TypeSize, p, key, def, doc, rules, readSize, FormatSize(def))
}

func number[N Number](f *Fields, t Type, p *N, key string, def N, doc string, rules []Rule,
	read func(Value) (N, *fault), text string) {
	u := unit(plainUnit)
	if t == TypeSize {
		u = sizeUnit
	}
	d := Field{Name: key, Type: t, Default: text, Doc: doc, Rules: rules, unit: u, empty: def == 0}
	d.zero = func() bool { return *p == 0 }
	d.fill = func() { *p = def }
	d.check = func() *fault { return inRange(rules, float64(*p), u) }
	d.set = func(v Value, _ string) (e *fault) { *p, e = read(v); return e }
	f.list = append(f.list, d)
}

// Bool is true or false; the default is always false.
func (f *Fields) Bool(p *bool, key, doc string) {
	f.list = append(f.list, Field{
		Name: key, Type: TypeBool, Default: "false", Doc: doc, empty: true,
		zero: func() bool { return !*p }, fill: func() {}, check: func() *fault { return nil },
		set: func(v Value, _ string) (e *fault) { *p, e = readBool(v); return e },
	})
}

// Text is a string.
func (f *Fields) Text(p *string, key, def, doc string, rules ...Rule) {
	text(f, TypeText, p, key, def, doc, rules, readText)
}

// Path is the name of a file or folder. In a spec a relative one is relative to the spec's folder; in a Go program it
// is left as it is. A name with "://" in it is left alone.
func (f *Fields) Path(p *string, key, def, doc string, rules ...Rule) {
	text(f, TypePath, p, key, def, doc, rules, readPath)
}

func text(f *Fields, t Type, p *string, key, def, doc string, rules []Rule, read func(Value, string) (string, *fault)) {
	f.list = append(f.list, Field{
		Name: key, Type: t, Default: quoteDefault(def), Doc: doc, Rules: rules, unit: plainUnit, empty: def == "",
		zero: func() bool { return *p == "" }, fill: func() { *p = def },
		check: func() *fault { return inLength(rules, len(*p), "bytes") },
		set:   func(v Value, dir string) (e *fault) { *p, e = read(v, dir); return e },
	})
}

// Choice is one of a few words.
func (f *Fields) Choice(p *string, key, def, doc string, choices ...string) {
	f.list = append(f.list, Field{
		Name: key, Type: TypeChoice, Default: def, Doc: doc, Choices: choices, unit: plainUnit, empty: def == "",
		zero: func() bool { return *p == "" }, fill: func() { *p = def },
		check: func() *fault { return oneOf(*p, choices) },
		set:   func(v Value, dir string) (e *fault) { *p, e = readWord(v); return e },
	})
}

// Time is a length of time, fixed ("5ms") or drawn ({normal: {mean: 5ms, stddev: 1ms}}). Bounds are given as
// [time.Duration] and hold for a fixed time, for the mean, and for the lower end of a uniform one.
func (f *Fields) Time(p *graph.Time, key string, def graph.Time, doc string, rules ...Rule) {
	f.list = append(f.list, Field{
		Name: key, Type: TypeTime, Default: def.String(), Doc: doc, Rules: rules, unit: timeUnit,
		empty: def == graph.Time{}, zero: func() bool { return *p == graph.Time{} }, fill: func() { *p = def },
		check: func() *fault {
			if err := p.Check(); err != nil {
				return &fault{code: "field_range", msg: ": " + err.Error()}
			}
			return inRange(rules, float64(p.A), timeUnit)
		},
		set: func(v Value, _ string) (e *fault) { *p, e = readTime(v); return e },
	})
}

// Texts is a list of strings; a single one is a list of one.
func (f *Fields) Texts(p *[]string, key string, def []string, doc string, rules ...Rule) {
	list(f, TypeTexts, p, key, def, doc, rules, readText, nil)
}

// Paths is a list of names of files or folders, each as for [Fields.Path].
func (f *Fields) Paths(p *[]string, key string, def []string, doc string, rules ...Rule) {
	list(f, TypePaths, p, key, def, doc, rules, readPath, nil)
}

// Ints is a list of whole numbers; a single one is a list of one. Bounds hold for each.
func (f *Fields) Ints(p *[]int, key string, def []int, doc string, rules ...Rule) {
	list(f, TypeInts, p, key, def, doc, rules, func(v Value, _ string) (int, *fault) { return readInt(v) },
		func(x int) float64 { return float64(x) })
}

// Floats is a list of numbers; a single one is a list of one. Bounds hold for each.
func (f *Fields) Floats(p *[]float64, key string, def []float64, doc string, rules ...Rule) {
	list(f, TypeFloats, p, key, def, doc, rules, func(v Value, _ string) (float64, *fault) { return readFloat(v) },
		func(x float64) float64 { return x })
}

func list[E comparable](f *Fields, t Type, p *[]E, key string, def []E, doc string, rules []Rule,
	read func(Value, string) (E, *fault), num func(E) float64) {
	d := Field{Name: key, Type: t, Default: listText(def), Doc: doc, Rules: rules, unit: plainUnit, empty: len(def) == 0}
	d.zero = func() bool { return len(*p) == 0 }
	d.fill = func() { *p = slices.Clone(def) }
	d.check = func() *fault {
		if e := inLength(rules, len(*p), "elements"); e != nil {
			return e
		}
		for i := range *p {
			if num == nil {
				break
			}
			if e := inRange(rules, num((*p)[i]), plainUnit); e != nil {
				return e.of(i)
			}
		}
		return nil
	}
	d.set = func(v Value, dir string) *fault {
		items := []Value{v}
		if v.Form == List {
			items = v.Items
		}
		out := make([]E, 0, len(items))
		for i, it := range items {
			x, e := read(it, dir)
			if e != nil {
				if v.Form == List {
					e = e.of(i)
				}
				return e.at(it.At)
			}
			out = append(out, x)
		}
		*p = out
		return nil
	}
	f.list = append(f.list, d)
}
