package graph

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph/item"
)

// Outline is a declaration as data: what a drawing shows. It is a copy; nothing of the pipeline changes with it.
type Outline struct {
	Pipeline string
	Settings []Setting // of the pipeline, named as in a spec
	Stages   []OutlineStage
}

// OutlineStage is one stage. From are the ids of its inputs, in their order.
type OutlineStage struct {
	ID, Kind string
	Role     string // source, stage, merge, sink
	Load     Load   // empty for a merge and for an output
	From     []string
	Config   []Setting // fields of the kind that are not zero
	Options  []Setting // options that were given
	Schema   item.Schema
	Emulated bool
	Random   bool
}

// Setting is a name and what it is set to, as a spec would write it.
type Setting struct{ Key, Value string }

// Outline describes the declaration. It may be called before and after a start and also where Build finds problems; what
// a problem leaves unknown is left out.
func (p *Pipeline) Outline() Outline {
	_ = p.Problems() // works the schemas out
	p.mu.Lock()
	defer p.mu.Unlock()
	o := Outline{Pipeline: p.name, Settings: []Setting{{"seed", fmt.Sprint(p.seed)}, {"epochs", fmt.Sprint(p.epochs)}}}
	if p.epochs == Forever {
		o.Settings[1].Value = "forever"
	}
	if p.budget.CPU > 0 {
		o.Settings = append(o.Settings, Setting{"budget.cpu", fmt.Sprintf("%g%%", p.budget.CPU*100)})
	}
	if p.budget.Memory > 0 {
		o.Settings = append(o.Settings, Setting{"budget.memory", fmt.Sprintf("%dB", p.budget.Memory)})
	}
	if p.share != nil {
		o.Settings = append(o.Settings, Setting{"share", p.share.name})
	}
	for _, n := range p.nodes {
		s := OutlineStage{ID: n.id, Kind: n.kind, Role: n.role.String(), Load: loadOf(n), Schema: n.schema, Emulated: emulated(n.decl)}
		for _, in := range n.ins {
			s.From = append(s.From, in.id)
		}
		if r, ok := n.decl.(Randomizer); ok {
			s.Random = r.Random()
		}
		if n.decl != nil && !isFunc(n.decl) {
			s.Config = settingsOf(n.decl)
		}
		s.Options = n.opts.settings()
		o.Stages = append(o.Stages, s)
	}
	return o
}

func loadOf(n *node) Load {
	if l, ok := n.decl.(Loader); ok {
		return l.Load()
	}
	switch {
	case n.decl == nil:
		return ""
	case n.opts.waits:
		return Wait
	}
	return CPU
}

// String is the word of [OutlineStage].Role.
func (r role) String() string { return [...]string{"source", "stage", "merge", "sink"}[r] }

// settings lists the options that differ from what is done without them.
func (o *options) settings() (list []Setting) {
	plain := *o
	plain.sampler = nil
	var b strings.Builder
	plain.describe(&b)
	for _, word := range strings.Fields(b.String()) {
		key, value, _ := strings.Cut(word, "=")
		list = append(list, Setting{key, value})
	}
	if o.sampler != nil {
		v := kindOf(o.sampler)
		if fields := settingsOf(o.sampler); len(fields) > 0 {
			words := make([]string, len(fields))
			for i, f := range fields {
				words[i] = f.Key + ": " + f.Value
			}
			v = "{" + v + ": {" + strings.Join(words, ", ") + "}}"
		}
		list = append(list, Setting{"sampler", v})
	}
	return list
}

// settingsOf lists the exported fields of a config that are not zero, as a spec names them. A config that prints itself
// is one setting without a name.
func settingsOf(decl any) (list []Setting) {
	if s, ok := decl.(fmt.Stringer); ok {
		return []Setting{{"", s.String()}}
	}
	v := reflect.ValueOf(decl)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(v.Type()) {
		x, err := v.FieldByIndexErr(f.Index)
		if err != nil || !f.IsExported() || f.Anonymous || x.IsZero() {
			continue
		}
		list = append(list, Setting{Snake(f.Name), settingText(x)})
	}
	return list
}

func settingText(x reflect.Value) string {
	if s, ok := x.Interface().(fmt.Stringer); ok {
		return s.String()
	}
	switch x.Kind() {
	case reflect.Func, reflect.Chan, reflect.Pointer, reflect.Map, reflect.Interface: // never an address
		return x.Kind().String()
	case reflect.Slice:
		words := make([]string, min(x.Len(), 8))
		for i := range words {
			words[i] = settingText(x.Index(i))
		}
		if x.Len() > len(words) {
			words = append(words, fmt.Sprintf("and %d more", x.Len()-len(words)))
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
	return fmt.Sprint(x.Interface())
}

// Stage finds a stage by its id.
func (o Outline) Stage(id string) (OutlineStage, bool) {
	i := slices.IndexFunc(o.Stages, func(s OutlineStage) bool { return s.ID == id })
	if i < 0 {
		return OutlineStage{}, false
	}
	return o.Stages[i], true
}
