package registry

import (
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// Meta is what a kind says about itself.
type Meta struct {
	Name    string // lower_snake_case
	Summary string // one sentence
	Example string // the body of a stage in a spec: `decode_image: {}`
}

// Role is the place of a kind in a pipeline.
type Role string

// The roles. Samplers are named by the key sampler of a source and have names of their own.
const (
	RoleSource  Role = "source"
	RoleStage   Role = "stage"
	RoleSink    Role = "sink"
	RoleSampler Role = "sampler"
	// RoleMerge is that of the kinds which join several edges of one type, whatever it is.
	RoleMerge Role = "merge"
)

// Entry is one kind for one type of input: its description, and how it is decoded and joined to a pipeline.
type Entry struct {
	Meta
	Role   Role
	In     string // display name of the input's type: "samples", "batches"; "" without input
	Out    string // of the output's type; "" without output
	Load   graph.Load
	Random bool // the output depends on the pipeline's seed
	Fields []Field

	in      any      // type key
	catalog *Catalog // that it belongs to, for kinds within kinds
	decode  func(settings []Member, dir string, c *Catalog) (any, []Problem)
	join    func(p *graph.Pipeline, id string, config any, in Port, opts []graph.Option) Port
	sampler func(config any) graph.Sampling
	wrong   []error // faults of the fields
}

// Decode makes the kind's config struct of the settings written in a spec that lies in dir. It finds every problem at
// once; those without a position concern the kind as a whole (a missing field). The config is meant for [Entry.Join].
func (e Entry) Decode(settings []Member, dir string) (config any, problems []Problem) {
	return e.decode(settings, dir, e.catalog)
}

// Source makes the entry of a source kind.
func Source[C graph.Source[T], T any](m Meta, bind func(*C, *Fields)) Entry {
	e := newEntry(RoleSource, m, bind)
	e.Out = TypeName[T]()
	e.join = joinSource[C, T]
	return e
}

// Stage makes the entry of a stage kind. Input and output types are inferred from C's Open.
func Stage[C graph.Stage[A, B], A, B any](m Meta, bind func(*C, *Fields)) Entry {
	e := newEntry(RoleStage, m, bind)
	e.In, e.Out, e.in = TypeName[A](), TypeName[B](), typeKey[A]{}
	e.join = joinStage[C, A, B]
	return e
}

// Sink makes the entry of a sink kind.
func Sink[C graph.Sink[T], T any](m Meta, bind func(*C, *Fields)) Entry {
	e := newEntry(RoleSink, m, bind)
	e.In, e.in = TypeName[T](), typeKey[T]{}
	e.join = joinSink[C, T]
	return e
}

// typeKey tells types apart without reflection: two interface values are equal if their types are.
type typeKey[T any] struct{}

// TypeName is the word for what travels on an edge of Ts: "samples", "batches", else the Go type.
func TypeName[T any]() string {
	switch any(typeKey[T]{}).(type) {
	case typeKey[*item.Sample]:
		return "samples"
	case typeKey[*item.Batch]:
		return "batches"
	}
	s := fmt.Sprintf("%T", (*T)(nil))
	return strings.TrimPrefix(s, "*")
}

func newEntry[C any](r Role, m Meta, bind func(*C, *Fields)) Entry {
	var c, blank C
	return describe(r, m, c, fieldsOf(&c, bind), fieldsOf(&blank, bind), func(settings []Member, dir string, all *Catalog) (any, []Problem) {
		var c C
		problems := decode(fieldsOf(&c, bind), settings, dir, all)
		return c, problems
	})
}

// describe makes the entry of a config, whose fields it gets twice: the second ones are changed.
func describe(r Role, m Meta, config any, fields, blank []Field, decode func([]Member, string, *Catalog) (any, []Problem)) Entry {
	e := Entry{Meta: m, Role: r, Load: graph.CPU, Fields: fields, decode: decode}
	if l, ok := config.(graph.Loader); ok {
		e.Load = l.Load()
	}
	if l, ok := config.(graph.Randomizer); ok {
		e.Random = l.Random()
	}
	for _, f := range blank {
		if msg := f.fault(); msg != "" {
			e.wrong = append(e.wrong, fmt.Errorf("kind %q, field %q: %s", m.Name, f.Name, msg))
		}
	}
	return e
}

func decode(fields []Field, settings []Member, dir string, all *Catalog) (problems []Problem) {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	given := map[string]bool{}
	for _, m := range settings {
		i := indexOf(names, m.Key)
		if i < 0 {
			problems = append(problems, unknownKey(m, names))
			continue
		}
		given[m.Key] = true
		if nested := fields[i].nested; nested != nil {
			problems = append(problems, nested(m.Value, dir, all)...)
		} else if e := fields[i].take(m.Value, dir); e != nil {
			problems = append(problems, e.at(m.Value.At).problem(m.Key))
		}
	}
	for i := range fields {
		if f := &fields[i]; f.Required() && !given[f.Name] {
			problems = append(problems, Problem{Field: f.Name, Code: "field_missing", Msg: f.Name + " is missing",
				Hint: f.Name + ": " + f.Doc})
		}
	}
	return problems
}

func unknownKey(m Member, names []string) Problem {
	p := Problem{At: m.At, Field: m.Key, Code: "unknown_key", Msg: "unknown key " + quote(m.Key), Hint: meant(m.Key, names)}
	near := Near(m.Key, StageKeys[:])
	switch {
	case near == m.Key:
		p.Hint = m.Key + " is a key of the stage: write it beside the kind, not among its fields"
	case p.Hint != "":
	case near != "":
		p.Hint = fmt.Sprintf("did you mean %q, a key of the stage?", near)
	case len(names) == 0:
		p.Hint = "this kind has no fields"
	default:
		p.Hint = "the fields are " + strings.Join(names, ", ")
	}
	return p
}

// take sets the field from a spec. There a zero is what its author meant, never the default.
func (f *Field) take(v Value, dir string) *fault {
	if e := f.set(v, dir); e != nil {
		return e
	}
	if e := f.check(); e != nil {
		return e
	}
	if f.zero() && (f.Required() || !f.empty) {
		way := "leave the key out for the default, " + f.Default
		if f.Required() {
			way = f.Doc
		}
		return &fault{code: "field_value", msg: " must not be " + f.zeroWord(), hint: way}
	}
	return nil
}

func (f *Field) zeroWord() string {
	switch f.Type {
	case TypeInt, TypeUint, TypeFloat, TypeSize, TypeTime:
		return "0"
	}
	return "empty"
}
