package spec

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
)

// Options are what a spec is read with. The zero value reads it as it stands.
type Options struct {
	// Set are overrides, "decode.workers=8" or "seed=9", applied in order.
	Set []string
	// Getenv finds variables for ${NAME}; nil means [os.LookupEnv].
	Getenv func(name string) (string, bool)
	// Dir is what relative paths are relative to; "" means the spec's folder, for standard input the working folder.
	Dir string
	// Root, if set, is the folder that paths of the spec and of overrides must lie in, links resolved, and that the
	// pipeline may read: see [graph.Within]. Only then does reading a spec look at other files.
	Root string
	// Upto, if set, declares only the stage of this id and those above it. The pipeline then has no sink; see
	// [Spec.Port].
	Upto string
	// Feed stands in for stages: what it makes takes the place of the stage of this id and of all above that one. It must
	// carry what the stage carries.
	Feed map[string]func(p *graph.Pipeline) registry.Port
}

// Spec is a spec that was read without an error.
type Spec struct {
	Pipeline  *graph.Pipeline
	Text      string
	Overrides []string
	// Port is the output of the stage Options.Upto.
	Port registry.Port
	// Memory is the pipeline key budget.memory, 0 if it is not given.
	Memory int64
	// Ranked says that the spec gives the rank itself; World is the pipeline key world, 0 if it is not given.
	Ranked bool
	World  int
}

// Load reads a spec from a file; "-" is stdin. The file may be a pipe. The diagnostics hold warnings even if there is
// no error; the spec is nil if there is one.
func Load(file string, stdin io.Reader, catalog *registry.Catalog, o Options) (*Spec, Diagnostics) {
	r := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, Diagnostics{unreadable(file, err)}
		}
		defer f.Close()
		r = f
	}
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, Diagnostics{unreadable(file, err)}
	}
	if o.Dir == "" && file != "-" {
		o.Dir = filepath.Dir(file)
	}
	return Parse(file, text, catalog, o)
}

func unreadable(file string, err error) Diagnostic {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return Diagnostic{File: file, Code: "unreadable", Msg: "cannot read the spec: " + err.Error()}
}

// builder leads a spec from text to a declaration.
type builder struct {
	*collector
	catalog *registry.Catalog
	getenv  func(string) (string, bool)
	dir     string
	root    string
	ports   map[*stage]registry.Port
}

// Parse reads a spec from memory; file names it in diagnostics. It opens nothing else.
func Parse(file string, text []byte, catalog *registry.Catalog, o Options) (*Spec, Diagnostics) {
	c := &builder{collector: &collector{file: file, broken: map[place]bool{}}, catalog: catalog, getenv: o.Getenv, dir: o.Dir, root: o.Root,
		ports: map[*stage]registry.Port{}}
	if c.getenv == nil {
		c.getenv = os.LookupEnv
	}
	tree, ok := (&parser{collector: c.collector, getenv: c.getenv}).parse(text)
	if !ok {
		return nil, c.sorted()
	}
	d := c.cut(tree)
	if d == nil {
		return nil, c.sorted()
	}
	for _, s := range o.Set {
		c.sets = append(c.sets, setPrefix+s)
		c.override(d, s)
	}
	set := c.settings(d)
	for _, s := range d.stages {
		c.stageKeys(s)
	}
	c.wire(d.stages)
	p := c.declare(set, d.stages, o)
	s := &Spec{Pipeline: p, Text: string(text), Overrides: o.Set, Memory: set.memory, Ranked: set.rank >= 0, World: set.world}
	if o.Upto != "" {
		s.Port = c.upto(d.stages, o.Upto)
	}
	list := c.sorted()
	if list.Errors() > 0 {
		return nil, list
	}
	return s, list
}

func (c *builder) upto(stages []*stage, id string) registry.Port {
	var ids []string
	for _, s := range stages {
		ids = append(ids, s.label)
		if s.id != id {
			continue
		}
		if s.role() == registry.RoleSink {
			c.add(s.at, s.label, "no_output", "a sink has no output", "name the stage before it")
		}
		return c.ports[s]
	}
	c.add(nil, "", "unknown_stage", fmt.Sprintf("there is no stage %q", id), meant(id, ids))
	return registry.Port{}
}

// declare joins the stages through the same functions that a Go program calls. Where something is wrong already, what
// hangs below it is only decoded.
func (c *builder) declare(set settings, stages []*stage, o Options) *graph.Pipeline {
	opts := []graph.PipelineOption{graph.Seed(set.seed), graph.Within(c.root)}
	if o.Upto != "" {
		opts = append(opts, graph.Part())
	}
	if set.epochs == forever {
		opts = append(opts, graph.Epochs(graph.Forever))
	} else {
		opts = append(opts, graph.Epochs(set.epochs))
	}
	if set.cpu > 0 || set.memory > 0 {
		opts = append(opts, graph.WithBudget(graph.Budget{CPU: set.cpu, Memory: set.memory}))
	}
	p := graph.New(set.name, append(opts, set.jobOptions()...)...)
	needed, fed := above(stages, o.Upto), c.fed(stages, o.Feed)
	ready := flow(stages)
	for _, s := range stages {
		if !slices.Contains(ready, s) {
			c.decodeOnly(s)
		}
	}
	for _, s := range ready {
		feed, instead := o.Feed[s.id]
		switch {
		case instead:
			c.decodeOnly(s)
			c.ports[s] = feed(p)
		case fed[s], needed != nil && !needed[s]:
			c.decodeOnly(s)
		default:
			c.join(p, s)
		}
	}
	c.build(p, stages)
	return p
}

// above is the stage of this id and all that lead to it; nil means all.
func above(stages []*stage, id string) map[*stage]bool {
	if id == "" {
		return nil
	}
	found := map[*stage]bool{}
	var visit func(s *stage)
	visit = func(s *stage) {
		if s != nil && !found[s] {
			found[s] = true
			for _, r := range s.inputs {
				visit(r.to)
			}
		}
	}
	for _, s := range stages {
		if s.id == id {
			visit(s)
		}
	}
	return found
}

// fed are the stages that others stand in for, and all above them.
func (c *builder) fed(stages []*stage, feed map[string]func(*graph.Pipeline) registry.Port) map[*stage]bool {
	all := map[*stage]bool{}
	for _, id := range slices.Sorted(maps.Keys(feed)) {
		if !slices.ContainsFunc(stages, func(s *stage) bool { return s.id == id }) {
			c.add(nil, "", "unknown_stage", fmt.Sprintf("there is no stage %q", id), "")
			continue
		}
		maps.Copy(all, above(stages, id))
	}
	return all
}

func (c *builder) decodeOnly(s *stage) {
	if s.known {
		c.decode(s, s.kind.Entries[0])
	}
}

func (c *builder) decode(s *stage, e registry.Entry) any {
	config, problems := e.Decode(s.fields, c.dir)
	for _, p := range append(problems, c.outside(e, s.fields)...) {
		c.problem(s.label, s.kindAt, p)
		s.wrong(p.Field)
	}
	return config
}

// name is what a stage is declared under: one without an id needs one too, so that the rest can be checked.
func (s *stage) name() string {
	if s.id == "" {
		return "stage_" + strings.TrimPrefix(s.label, "#")
	}
	return s.id
}

func (s *stage) wrong(field string) {
	if s.faults == nil {
		s.faults = map[string]bool{}
	}
	s.faults[field] = true
}

// join declares one stage if all above it is there.
func (c *builder) join(p *graph.Pipeline, s *stage) {
	switch {
	case !s.known:
		return
	case s.merge:
		c.joinMerge(p, s)
		return
	case s.kind.Role == registry.RoleSource:
		e := s.kind.Entries[0]
		c.ports[s] = e.Join(p, s.name(), c.decode(s, e), registry.Port{}, s.graphOptions())
		return
	}
	in, ok := c.input(s)
	if !ok {
		c.decodeOnly(s)
		return
	}
	e, ok := s.kind.For(in)
	if !ok {
		c.decodeOnly(s)
		c.wrongPort(s, in)
		return
	}
	c.ports[s] = e.Join(p, s.name(), c.decode(s, e), in, s.graphOptions())
}

func (c *builder) input(s *stage) (registry.Port, bool) {
	if len(s.inputs) != 1 || s.inputs[0].to == nil {
		return registry.Port{}, false
	}
	in, ok := c.ports[s.inputs[0].to]
	return in, ok && in.Carries != ""
}

func (c *builder) joinMerge(p *graph.Pipeline, s *stage) {
	e := s.kind.Entries[0]
	config := c.decode(s, e)
	var ins []registry.Port
	for _, r := range s.inputs {
		in, ok := c.ports[r.to]
		if !ok || in.Carries == "" {
			return
		}
		if len(ins) > 0 && in.Carries != ins[0].Carries {
			c.add(r.at, s.label, "port_type", fmt.Sprintf("%s takes inputs of one type, but %q gives %s and %q gives %s",
				s.kind.Name, s.inputs[0].name, ins[0].Carries, r.name, in.Carries), "")
			return
		}
		ins = append(ins, in)
	}
	if len(ins) == 0 {
		return
	}
	c.ports[s] = e.JoinAll(p, s.name(), config, ins, s.graphOptions())
}

// wrongPort says which stage would turn what comes into what is taken, or that the stage stands too late.
func (c *builder) wrongPort(s *stage, in registry.Port) {
	takes := s.kind.Takes()
	hint := ""
	for _, k := range c.catalog.Kinds() {
		for _, e := range k.Entries {
			if k.Role == registry.RoleStage && e.In == in.Carries && slices.Contains(takes, e.Out) && hint == "" {
				hint = fmt.Sprintf("put %s before it", k.Name)
			}
		}
	}
	for up := s.inputs[0].to; hint == "" && up != nil && len(up.inputs) == 1; up = up.inputs[0].to {
		if port, ok := c.ports[up.inputs[0].to]; ok && slices.Contains(takes, port.Carries) {
			hint = fmt.Sprintf("put it before stage %q", up.label)
		}
	}
	c.add(s.kindAt, s.label, "port_type", fmt.Sprintf("%s takes %s, but %q gives %s", s.kindName, strings.Join(takes, " or "),
		s.inputs[0].to.label, in.Carries), hint)
}

func (s *stage) graphOptions() []graph.Option {
	o := s.options
	var opts []graph.Option
	if o.workers > 0 {
		opts = append(opts, graph.Workers(o.workers))
	}
	if o.buffer > 0 {
		opts = append(opts, graph.Buffer(o.buffer))
	}
	if o.window > 0 {
		opts = append(opts, graph.Window(o.window))
	}
	switch o.order {
	case "input":
		opts = append(opts, graph.Order(graph.InputOrder))
	case "completion":
		opts = append(opts, graph.Order(graph.CompletionOrder))
	}
	opts = append(opts, o.policies.graphOptions()...)
	if o.sampler != nil {
		opts = append(opts, graph.Sampler(o.sampler.AsSampler(o.samplerConfig)))
	}
	return opts
}

// build asks the graph for what only it can see: schemas, settings that do not go together. Its problems are put at the
// field they speak of.
func (c *builder) build(p *graph.Pipeline, stages []*stage) {
	for _, x := range p.Problems() {
		s := stageOf(stages, x.Stage)
		if ownCodes[x.Code] || s == nil || s.faults[x.Field] {
			continue
		}
		c.put(c.where(s, x.Field), Diagnostic{Stage: x.Stage, Code: x.Code, Msg: x.Msg, Warn: x.Warn})
	}
}

func stageOf(stages []*stage, label string) *stage {
	for _, s := range stages {
		if s.label == label || s.name() == label {
			return s
		}
	}
	return nil
}

// where is the position of a stage's field: its value, else the kind, else the stage.
func (c *builder) where(s *stage, field string) any {
	if s == nil {
		return nil
	}
	for _, m := range s.fields {
		if m.Key == field {
			return m.Value.At
		}
	}
	if m, ok := s.keys[field]; ok {
		return m.Value.At
	}
	if s.kindAt != nil {
		return s.kindAt
	}
	return s.at
}

// ownCodes are faults that a spec's own checks have found already, with better positions; a declaration that was given
// up half-way has some of them without the author's doing.
var ownCodes = map[string]bool{
	"bad_id": true, "duplicate_id": true, "used_twice": true, "merge_inputs": true, "no_stages": true, "no_reader": true,
	"no_sink": true, "two_sinks": true,
}
