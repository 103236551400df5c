package registry

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Set gathers the kinds of one room while its package is initialised:
//
//	var kinds registry.Set
//	var _ = kinds.Add(registry.Stage[Blur](...))
type Set struct {
	entries []Entry
	frozen  bool
}

// Add puts an entry into the set. The result is nothing, so that a package variable can be declared with it. It panics
// after [Set.Entries].
func (s *Set) Add(e Entry) struct{} {
	if s.frozen {
		panic(fmt.Sprintf("registry: kind %q added after the set was read", e.Name))
	}
	s.entries = append(s.entries, e)
	return struct{}{}
}

// Entries freezes the set and lists it.
func (s *Set) Entries() []Entry {
	s.frozen = true
	return slices.Clone(s.entries)
}

// PipelineKeys and StageKeys are the reserved keys of a spec; a kind's field may bear none of them.
var (
	PipelineKeys = [...]string{"pipeline", "seed", "epochs", "steps_per_epoch", "rank", "world", "uneven", "budget", "cache", "stages"}
	StageKeys    = [...]string{"id", "from", "workers", "buffer", "window", "order", "on_error", "retry", "timeout", "sampler"}
)

// Kind is all entries of one name: one for each type of input.
type Kind struct {
	Meta
	Role    Role
	Entries []Entry
}

// Takes lists the display names of the inputs.
func (k Kind) Takes() []string {
	var t []string
	for _, e := range k.Entries {
		if e.In != "" {
			t = append(t, e.In)
		}
	}
	return t
}

// For picks the entry that takes what in carries.
func (k Kind) For(in Port) (Entry, bool) {
	for _, e := range k.Entries {
		if e.in == in.key {
			return e, true
		}
	}
	return Entry{}, false
}

// Catalog is a fixed set of kinds, looked up by name. It is safe for use by several goroutines.
type Catalog struct {
	kinds, samplers []Kind // sorted by name
}

// NewCatalog checks entries and gathers them. Every fault is reported at once: two kinds of one name and input type,
// a name or field that is not lower_snake_case or is reserved, a default that breaks its own rules, a zero that its
// rules allow although it means another default.
func NewCatalog(entries ...Entry) (*Catalog, error) {
	c := &Catalog{}
	var errs []error
	for _, e := range append(joints(), entries...) {
		e.catalog = c
		errs = append(errs, e.faults()...)
		list := &c.kinds
		if e.Role == RoleSampler {
			list = &c.samplers
		}
		if err := add(list, e); err != nil {
			errs = append(errs, err)
		}
	}
	byName := func(a, b Kind) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(c.kinds, byName)
	slices.SortFunc(c.samplers, byName)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

func add(list *[]Kind, e Entry) error {
	for i := range *list {
		k := &(*list)[i]
		if k.Name != e.Name {
			continue
		}
		if k.Role != e.Role {
			return fmt.Errorf("kind %q is both a %s and a %s", e.Name, k.Role, e.Role)
		}
		for _, o := range k.Entries {
			if o.in == e.in {
				return fmt.Errorf("kind %q is registered twice for %s", e.Name, cmp.Or(e.In, "no input"))
			}
		}
		if !slices.Equal(fieldNames(k.Entries[0].Fields), fieldNames(e.Fields)) {
			return fmt.Errorf("kind %q has other fields for %s than for %s", e.Name, e.In, k.Entries[0].In)
		}
		k.Entries = append(k.Entries, e)
		return nil
	}
	*list = append(*list, Kind{Meta: e.Meta, Role: e.Role, Entries: []Entry{e}})
	return nil
}

func fieldNames(fields []Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// Kinds lists all kinds but samplers, by name.
func (c *Catalog) Kinds() []Kind { return slices.Clone(c.kinds) }

// Samplers lists the samplers, by name.
func (c *Catalog) Samplers() []Kind { return slices.Clone(c.samplers) }

// Kind finds a kind by its name.
func (c *Catalog) Kind(name string) (Kind, bool) { return find(c.kinds, name) }

// Sampler finds a sampler by its name.
func (c *Catalog) Sampler(name string) (Kind, bool) { return find(c.samplers, name) }

func find(list []Kind, name string) (Kind, bool) {
	i, ok := slices.BinarySearchFunc(list, name, func(k Kind, n string) int { return cmp.Compare(k.Name, n) })
	if !ok {
		return Kind{}, false
	}
	return list[i], true
}

// Names lists the names of all kinds, for messages and [Near].
func (c *Catalog) Names() []string {
	var names []string
	for _, k := range c.kinds {
		names = append(names, k.Name)
	}
	return names
}

func reserved(name string) bool {
	return slices.Contains(PipelineKeys[:], name) || slices.Contains(StageKeys[:], name)
}

func (e Entry) faults() (errs []error) {
	if !isName(e.Name) || reserved(e.Name) {
		errs = append(errs, fmt.Errorf("kind %q: a name is lower_snake_case and not a reserved key", e.Name))
	}
	if e.Role != RoleSampler && !strings.HasPrefix(e.Example, e.Name+":") {
		errs = append(errs, fmt.Errorf("kind %q: the example must begin with %q, got %q", e.Name, e.Name+":", e.Example))
	}
	if e.Summary == "" {
		errs = append(errs, fmt.Errorf("kind %q has no summary", e.Name))
	}
	errs = append(errs, e.wrong...)
	seen := map[string]bool{}
	for _, f := range e.Fields {
		if seen[f.Name] {
			errs = append(errs, fmt.Errorf("kind %q has two fields %q", e.Name, f.Name))
		}
		seen[f.Name] = true
	}
	return errs
}

// fault is what is wrong with a field's declaration. The field's config is a fresh one, all zero; it is changed.
func (f *Field) fault() string {
	switch {
	case !isName(f.Name):
		return "a name is lower_snake_case"
	case reserved(f.Name):
		return "the name is a reserved key"
	case f.Doc == "":
		return "it has no documentation"
	case f.Required():
		if !f.empty {
			return "a required field has no default"
		}
		return ""
	}
	numeric := f.Type == TypeInt || f.Type == TypeUint || f.Type == TypeFloat || f.Type == TypeSize
	if numeric && !f.empty && f.check() == nil {
		return fmt.Sprintf("its rules allow 0, which means the default %s: add registry.Min or registry.Over", f.Default)
	}
	if e := f.verify(); e != nil {
		return "its default breaks its rules: " + e.text(f.Name)
	}
	return ""
}
