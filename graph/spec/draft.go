package spec

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph/registry"
)

// draft is a spec as written, cut into pipeline keys and stages but not decoded: the form in which overrides are put in.
type draft struct {
	keys   map[string]registry.Member
	stages []*stage
	at     any
}

// stage is one entry of the list stages, on its way from text to a declaration.
type stage struct {
	label string // the id, or "#3"
	id    string // "" if it has none or not a valid one
	at    any
	keys  map[string]registry.Member // stage keys but id

	kindName string
	kindAt   any
	kind     registry.Kind
	known    bool // kind is the kind that was named, or surely meant
	merge    bool
	fields   []registry.Member

	inputs  []ref
	inCycle bool
	options options
	faults  map[string]bool // fields of which a problem is reported
}

// ref is one name in a stage's from.
type ref struct {
	name string
	at   any
	to   *stage // nil: there is no such stage
}

const maxID = 64

const noID = "#%d"

// cut takes the tree apart.
func (c *builder) cut(v registry.Value) *draft {
	d := &draft{keys: map[string]registry.Member{}, at: v.At}
	if v.Form != registry.Map {
		c.add(v.At, "", "field_type", "a spec is a map, got "+v.Describe(), "it begins with: pipeline: NAME")
		return nil
	}
	for _, m := range v.Members {
		if slices.Contains(registry.PipelineKeys[:], m.Key) {
			d.keys[m.Key] = m
			continue
		}
		c.add(m.At, "", "unknown_key", fmt.Sprintf("unknown key %q", m.Key), c.keyHint(m.Key))
	}
	list, ok := d.keys["stages"]
	switch {
	case !ok:
		c.add(d.at, "", "no_stages", "stages is missing", "stages is a list; it begins with a source and ends with a sink")
	case list.Value.Null(), list.Value.Form == registry.List && len(list.Value.Items) == 0:
		c.add(list.At, "", "no_stages", "there are no stages", "stages is a list; it begins with a source and ends with a sink")
	case list.Value.Form != registry.List:
		c.add(list.Value.At, "", "field_type", "stages: wanted a list of stages, got "+list.Value.Describe(), "")
	case len(list.Value.Items) > MaxStages:
		c.add(list.At, "", "too_large", fmt.Sprintf("a spec may have %d stages, this one has %d", MaxStages, len(list.Value.Items)), "")
	default:
		for i, s := range list.Value.Items {
			if st := c.cutStage(i, s); st != nil {
				d.stages = append(d.stages, st)
			}
		}
	}
	return d
}

// keyHint says what an unknown key of the pipeline was meant to be.
func (c *builder) keyHint(key string) string {
	if h := meant(key, registry.PipelineKeys[:]); h != "" {
		return h
	}
	if slices.Contains(registry.StageKeys[:], key) {
		return fmt.Sprintf("%s is a key of stages", key)
	}
	if h := meant(key, registry.StageKeys[:]); h != "" {
		return h + " it is a key of stages"
	}
	for _, k := range c.catalog.Samplers() {
		if registry.Near(key, []string{k.Name}) != "" {
			return fmt.Sprintf("write sampler: %s at a source", k.Name)
		}
	}
	return "the keys are " + strings.Join(registry.PipelineKeys[:], ", ")
}

func (c *builder) cutStage(i int, v registry.Value) *stage {
	s := &stage{label: fmt.Sprintf(noID, i+1), at: v.At, keys: map[string]registry.Member{}}
	if v.Form != registry.Map {
		c.add(v.At, s.label, "field_type", "a stage is a map, got "+v.Describe(), "write {id: NAME, KIND: {FIELDS}}")
		return nil
	}
	var rest []registry.Member
	for _, m := range v.Members {
		switch {
		case m.Key == "id":
			c.setID(s, m)
		case slices.Contains(registry.StageKeys[:], m.Key):
			s.keys[m.Key] = m
		default:
			rest = append(rest, m)
		}
	}
	if !hasKey(v.Members, "id") {
		c.add(v.At, s.label, "missing_key", "id is missing", "an id names the stage in reports and messages")
	}
	c.pickKind(s, rest)
	return s
}

func hasKey(ms []registry.Member, key string) bool {
	return slices.ContainsFunc(ms, func(m registry.Member) bool { return m.Key == key })
}

var idForm = regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)

func (c *builder) setID(s *stage, m registry.Member) {
	id, p := registry.ReadText(m.Value, "id")
	switch {
	case p != nil:
		c.problem(s.label, m.Value.At, *p)
	case !idForm.MatchString(id) || len(id) > maxID:
		c.add(m.Value.At, s.label, "bad_id", fmt.Sprintf("id %q must be lower_snake_case", id),
			"an id has at most 64 small letters, digits and single _ between them")
	case slices.Contains(registry.PipelineKeys[:], id):
		c.add(m.Value.At, s.label, "bad_id", fmt.Sprintf("id %q is a key of the pipeline", id), "")
	default:
		s.id, s.label = id, id
	}
}

// pickKind finds the key that is the kind among those that are not keys of every stage.
func (c *builder) pickKind(s *stage, rest []registry.Member) {
	i := c.likeliest(rest)
	if i < 0 {
		c.add(s.at, s.label, "no_kind", "the stage has no kind", "write {id: NAME, KIND: {FIELDS}}; penstock kinds lists them")
		return
	}
	for j, m := range rest {
		if j == i {
			continue
		}
		if _, ok := c.lookup(m.Key); ok {
			c.add(m.At, s.label, "several_kinds", fmt.Sprintf("the stage has two kinds, %q and %q", rest[i].Key, m.Key), "make two stages of it")
			continue
		}
		c.add(m.At, s.label, "unknown_key", fmt.Sprintf("unknown key %q", m.Key), c.stageKeyHint(rest[i].Key, m.Key))
	}
	c.setKind(s, rest[i])
}

// likeliest is the member that names a known kind, else the one that looks most like a kind, else -1. What looks like
// another key and has no map behind it is none.
func (c *builder) likeliest(rest []registry.Member) int {
	best, score := -1, 0
	for i, m := range rest {
		n := 1
		_, known := c.lookup(m.Key)
		switch near := registry.Near(m.Key, registry.StageKeys[:]); {
		case known:
			n = 5
		case registry.Near(m.Key, c.catalog.Names()) != "" && m.Value.Form == registry.Map:
			n = 4
		case near != "" && m.Value.Form != registry.Map:
			n = 0
		case m.Value.Form == registry.Map:
			n = 3
		case m.Value.Null():
			n = 2
		}
		if n > score {
			best, score = i, n
		}
	}
	return best
}

func (c *builder) lookup(name string) (registry.Kind, bool) {
	return c.catalog.Kind(name)
}

func (c *builder) stageKeyHint(kind, key string) string {
	if k, ok := c.lookup(kind); ok && len(k.Entries) > 0 {
		for _, f := range k.Entries[0].Fields {
			if f.Name == key {
				return fmt.Sprintf("%s is a field of the kind: write %s: {%s: ...}", key, kind, key)
			}
		}
	}
	if h := meant(key, registry.StageKeys[:]); h != "" {
		return h
	}
	return "the keys of a stage are " + strings.Join(registry.StageKeys[:], ", ")
}

func (c *builder) setKind(s *stage, m registry.Member) {
	s.kindName, s.kindAt = m.Key, m.At
	s.kind, s.known = c.lookup(m.Key)
	if !s.known {
		near := registry.Near(m.Key, c.catalog.Names())
		hint := "penstock kinds lists them"
		if near != "" { // what was surely meant stands in, so that everything else is checked too
			hint = fmt.Sprintf("did you mean %q?", near)
			s.kind, s.known = c.lookup(near)
		}
		c.add(m.At, s.label, "unknown_kind", fmt.Sprintf("unknown kind %q", m.Key), hint)
	}
	s.merge = s.known && s.kind.Role == registry.RoleMerge
	switch {
	case m.Value.Null(): // decode_image: with nothing behind it
	case m.Value.Form != registry.Map:
		c.add(m.Value.At, s.label, "field_type", fmt.Sprintf("%s: wanted a map of its fields, got %s", m.Key, m.Value.Describe()),
			fmt.Sprintf("write %s: {}", m.Key))
	default:
		s.fields = m.Value.Members
	}
}

// override puts --set options in. They are applied in order, so the last one of a key wins.
func (c *builder) override(d *draft, text string) {
	at := place{set: setPrefix + text}
	path, raw, ok := strings.Cut(text, "=")
	if !ok || path == "" {
		c.add(at, "", "bad_override", "wanted KEY=VALUE or ID.KEY=VALUE", "for instance decode.workers=8 or seed=9")
		return
	}
	v := c.overrideValue(at, raw)
	id, key, dotted := strings.Cut(path, ".")
	switch {
	case path == "stages":
		c.add(at, "", "bad_override", "stages cannot be set as a whole", "set a key of one stage: ID.KEY=VALUE")
	case !dotted && !slices.Contains(registry.PipelineKeys[:], path):
		c.add(at, "", "unknown_key", fmt.Sprintf("there is no pipeline key %q to set", path), meant(path, registry.PipelineKeys[:]))
	case !dotted:
		d.keys[path] = registry.Member{Key: path, At: at, Value: v}
	case id == "budget":
		m := d.keys["budget"]
		m.Key, m.At = "budget", at
		if m.Value.Form != registry.Map {
			m.Value = registry.Value{At: at, Form: registry.Map}
		}
		m.Value.Members = replace(m.Value.Members, registry.Member{Key: key, At: at, Value: v})
		d.keys["budget"] = m
	default:
		c.overrideStage(d, at, id, registry.Member{Key: key, At: at, Value: v})
	}
}

func (c *builder) overrideStage(d *draft, at place, id string, m registry.Member) {
	var ids []string
	for _, s := range d.stages {
		if ids = append(ids, s.label); s.label != id {
			continue
		}
		switch {
		case m.Key == "id":
			c.add(at, s.label, "bad_override", "an id cannot be set", "")
		case strings.Contains(m.Key, "."):
			c.add(at, s.label, "bad_override", fmt.Sprintf("%q goes too deep", m.Key), "set the whole field: ID.FIELD={...}")
		case slices.Contains(registry.StageKeys[:], m.Key):
			s.keys[m.Key] = m
		default:
			s.fields = replace(s.fields, m)
		}
		return
	}
	c.add(at, "", "unknown_stage", fmt.Sprintf("there is no stage %q", id), meant(id, ids))
}

func replace(ms []registry.Member, m registry.Member) []registry.Member {
	return append(slices.DeleteFunc(slices.Clone(ms), func(o registry.Member) bool { return o.Key == m.Key }), m)
}

// overrideValue reads the right side of an override: a list, map or quoted text as in a spec, else text as it stands,
// which becomes what the field takes. Its paths are relative to where the command is
// given, and variables are left to the shell.
func (c *builder) overrideValue(at place, raw string) registry.Value {
	if raw != "" && strings.ContainsRune(`[{"'`, rune(raw[0])) {
		sub := &parser{collector: &collector{file: at.set, broken: map[place]bool{}}}
		if v, ok := sub.parse([]byte(raw)); ok && len(sub.list) == 0 {
			return moved(v, at)
		}
		for _, x := range sub.list {
			c.add(at, "", x.Code, x.Msg, x.Hint)
		}
		c.broken[at] = true
	}
	return registry.Value{At: at, Form: registry.Free, Text: raw, Here: true}
}

func moved(v registry.Value, at place) registry.Value {
	v.At, v.Here = at, true
	for i := range v.Items {
		v.Items[i] = moved(v.Items[i], at)
	}
	for i := range v.Members {
		v.Members[i].At, v.Members[i].Value = at, moved(v.Members[i].Value, at)
	}
	return v
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
