package graph

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph/item"
)

// Build checks the whole declaration and gives every problem at once, as a [*BuildError]. It opens nothing.
func (p *Pipeline) Build() error {
	var bad []Problem
	for _, pr := range p.Problems() {
		if !pr.Warn {
			bad = append(bad, pr)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return &BuildError{Pipeline: p.name, Problems: bad}
}

// Problems lists what Build finds and the hints as well, in order of declaration.
func (p *Pipeline) Problems() []Problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	declared := slices.Clone(p.problems)
	defer func() { p.problems = declared }()
	p.checkShape()
	for _, n := range p.nodes {
		p.checkNode(n)
		p.checkSchema(n)
		p.checkCache(n)
	}
	return p.inOrder(p.problems)
}

// inOrder gives the problems of the pipeline first, then those of each stage in order of declaration.
func (p *Pipeline) inOrder(found []Problem) (sorted []Problem) {
	of := map[string][]Problem{}
	for _, pr := range found {
		of[pr.Stage] = append(of[pr.Stage], pr)
	}
	sorted = of[""]
	for _, n := range p.nodes {
		sorted = append(sorted, of[n.id]...)
		delete(of, n.id) // two stages may have one id
	}
	return sorted
}

// checkShape looks at the graph as a whole.
func (p *Pipeline) checkShape() {
	if len(p.nodes) == 0 {
		p.problem(nil, "stages", "no_stages", "the pipeline has no stages")
		return
	}
	if p.epochs == 0 || p.epochs < Forever {
		p.problem(nil, "epochs", "field_range", "epochs must be at least 1, or forever, got %d", p.epochs)
	}
	p.checkShare()
	if p.budget.CPU < 0 || p.budget.CPU > 1 {
		p.problem(nil, "budget", "field_range", "budget.cpu must be above 0 and at most 100%%, got %g%%", p.budget.CPU*100)
	}
	if p.budget.Memory < 0 {
		p.problem(nil, "budget", "field_range", "budget.memory must not be negative, got %d", p.budget.Memory)
	}
	p.checkRanks()
	var sinks []*node
	for _, n := range p.nodes {
		if n.role == sinkRole {
			sinks = append(sinks, n)
		} else if n.next == nil {
			p.problem(n, "", "no_reader", "nothing reads its output; end the pipeline with a sink")
		}
	}
	if len(sinks) == 0 {
		p.problem(nil, "stages", "no_sink", "the pipeline has no sink")
	}
	for _, n := range sinks[min(1, len(sinks)):] {
		p.problem(n, "", "two_sinks", "the pipeline has a second sink; the first is %q", sinks[0].id)
	}
}

// checkNode looks at one stage's options and its own settings.
func (p *Pipeline) checkNode(n *node) {
	o := &n.opts
	for _, v := range []struct {
		key string
		n   int
		max int
	}{{"workers", o.workers, MaxWorkers}, {"buffer", o.buffer, MaxBuffer}, {"window", o.window, MaxBuffer}} {
		if v.n < 0 || v.n > v.max {
			p.problem(n, v.key, "field_range", "%s must be from 1 to %d, or 0 for auto, got %d", v.key, v.max, v.n)
		}
	}
	if o.order != "" && o.order != InputOrder && o.order != CompletionOrder {
		p.problem(n, "order", "field_value", "order must be input or completion, got %q", string(o.order))
	}
	if o.onError != "" && o.onError != Fail && o.onError != Skip {
		p.problem(n, "on_error", "field_value", "on_error must be fail or skip, got %q", string(o.onError))
	}
	p.checkFaults(n)
	p.checkEffect(n)
	p.checkMix(n)
	if c, ok := o.sampler.(Checker); ok && n.role == sourceRole {
		for _, err := range flatten(c.Check()) {
			p.problem(n, "sampler", "field_value", "%s: %s", kindOf(c), err)
		}
	}
	if c, ok := n.decl.(Checker); ok {
		for _, err := range flatten(c.Check()) {
			var f *FieldError
			if errors.As(err, &f) {
				p.problem(n, f.Field, f.Code, "%s", f.Msg)
			} else {
				p.problem(n, "", "field_value", "%s", err)
			}
		}
	}
}

// checkFaults looks at what is to become of items that fail.
func (p *Pipeline) checkFaults(n *node) {
	o := &n.opts
	if o.maxSkips < 0 {
		p.problem(n, "on_error", "field_range", "max_count must be at least 1, or 0 for any number, got %d", o.maxSkips)
	}
	if !(o.maxSkipRate >= 0 && o.maxSkipRate <= 1) {
		p.problem(n, "on_error", "field_range", "max_rate must be above 0 and at most 1, or 0 for any share, got %g", o.maxSkipRate)
	}
	if (o.maxSkips > 0 || o.maxSkipRate > 0) && o.onError != Skip {
		p.hint(n, "on_error", "no_effect", "bounds of skips have no effect without on_error: skip")
	}
	if o.set["retry"] && (o.attempts < 1 || o.attempts > MaxAttempts) {
		p.problem(n, "retry", "field_range", "attempts must be from 1 to %d, got %d", MaxAttempts, o.attempts)
	}
	if o.backoff < 0 {
		p.problem(n, "retry", "field_range", "backoff must not be negative, got %v", o.backoff)
	}
	if o.set["timeout"] && o.timeout <= 0 {
		p.problem(n, "timeout", "field_range", "timeout must be above 0, got %v", o.timeout)
	}
	if n.role == sinkRole || n.role == mergeRole {
		for _, key := range []string{"retry", "timeout"} {
			if o.set[key] {
				p.problem(n, key, "serial_stage", "a %s has no %s", n.serialWord(), key)
			}
		}
	}
}

// checkEffect finds settings that cannot have one.
func (p *Pipeline) checkEffect(n *node) {
	o := &n.opts
	switch n.role {
	case sinkRole:
		for _, key := range []string{"workers", "buffer", "window", "order", "on_error"} {
			if o.set[key] && !(key == "workers" && o.workers <= 1) {
				p.problem(n, key, "serial_stage", "a sink takes items one by one and has no %s", key)
			}
		}
	case mergeRole:
		for _, key := range []string{"workers", "window", "order", "on_error"} {
			if o.set[key] && !(key == "workers" && o.workers <= 1) {
				p.problem(n, key, "serial_stage", "a %s takes its inputs in turn and has no %s", n.serialWord(), key)
			}
		}
	}
	if t := traitsOf(n.decl); n.role == stageRole && t.Serial && o.workers > 1 {
		p.problem(n, "workers", "serial_stage", "%s works on one item at a time, in order; it has one worker", n.kind)
	}
	if o.set["sampler"] && n.role != sourceRole {
		p.problem(n, "sampler", "not_a_source", "only a source has a sampler")
	}
	if n.role != stageRole && n.role != sourceRole {
		return
	}
	if s, ok := n.decl.(interface{ Serial() bool }); ok && s.Serial() {
		for _, key := range []string{"window", "order", "on_error", "retry", "timeout"} {
			if o.set[key] {
				p.hint(n, key, "no_effect", "%s has no effect: one goroutine moves the items on, and nothing can fail", key)
			}
		}
		return
	}
	if o.workers == 1 && o.window > 0 {
		p.hint(n, "window", "no_effect", "window has no effect with one worker")
	}
	if o.workers == 1 && o.order == CompletionOrder {
		p.hint(n, "order", "no_effect", "order: completion has no effect with one worker")
	}
	if o.order == CompletionOrder && o.window > 0 {
		p.hint(n, "window", "no_effect", "window has no effect with order: completion")
	}
}

// serialWord is what a stage without workers is called.
func (n *node) serialWord() string {
	if n.role == sinkRole {
		return "sink"
	}
	return n.kind
}

// checkSchema works the schema of the output out and finds needs that are not met.
func (p *Pipeline) checkSchema(n *node) {
	in := item.Schema{}
	switch {
	case n.role == mergeRole:
		n.schema = mergeSchemas(n.ins)
		return
	case len(n.ins) == 1:
		in = n.ins[0].schema
	}
	if in.Place == item.Device && n.decl != nil && !isFunc(n.decl) && !traitsOf(n.decl).Device {
		p.problem(n, "", "place", "its input %q gives batches that lie on a device, where %s cannot reach them; put it before the stage that copies them there", n.ins[0].id, n.kind)
	}
	if c, ok := n.decl.(BelowChecker); ok && !p.part {
		if err := c.CheckBelow(n.below()); err != nil {
			p.problem(n, "", "below", "%s", err)
		}
	}
	s, ok := n.decl.(Shaper)
	if !ok {
		n.schema = item.Schema{Open: true}
		return
	}
	out, err := s.Schema(in)
	if sampler, ok := n.opts.sampler.(Shaper); ok && err == nil && n.role == sourceRole {
		out, err = sampler.Schema(out)
	}
	if err != nil {
		out = item.Schema{Open: true}
		var se *item.SchemaError
		if errors.As(err, &se) {
			p.problem(n, "", "missing_field", "%s (its input is %q)", se, n.ins[0].id)
		} else {
			p.problem(n, "", "schema", "%s", err)
		}
	}
	n.schema = out
}

func mergeSchemas(ins []*node) item.Schema {
	s := ins[0].schema
	for _, in := range ins[1:] {
		for _, f := range s.Fields {
			if g, ok := in.schema.Find(f.Name); !ok || g != f {
				s = s.Without(f.Name)
				s.Open = true
			}
		}
	}
	return s
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range j.Unwrap() {
			all = append(all, flatten(e)...)
		}
		return all
	}
	return []error{err}
}

// Limits of options.
const (
	MaxWorkers = 16384
	MaxBuffer  = 1 << 20
	// MaxAttempts bounds the attempts of [Retry].
	MaxAttempts = 100
)

// Schema is the schema of a stage's output, as far as the declaration tells. Call it after Build.
func (p *Pipeline) Schema(id string) (item.Schema, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.nodes {
		if n.id == id {
			return n.schema, true
		}
	}
	return item.Schema{}, false
}

// Describe writes the declaration out, one stage a line: two declarations of the same pipeline, in Go and in YAML, give
// the same text.
func (p *Pipeline) Describe() string {
	var b strings.Builder
	epochs := fmt.Sprint(p.epochs)
	if p.epochs == Forever {
		epochs = "forever"
	}
	fmt.Fprintf(&b, "pipeline %s seed=%d epochs=%s", p.name, p.seed, epochs)
	if p.world.Size() > 1 {
		fmt.Fprintf(&b, " rank=%d world=%d", p.world.Rank, p.world.World)
	}
	if p.uneven != "" && p.uneven != Pad {
		fmt.Fprintf(&b, " uneven=%s", p.uneven)
	}
	if p.steps > 0 {
		fmt.Fprintf(&b, " steps_per_epoch=%d", p.steps)
	}
	if p.budget.CPU > 0 {
		fmt.Fprintf(&b, " cpu=%g%%", p.budget.CPU*100)
	}
	if p.budget.Memory > 0 {
		fmt.Fprintf(&b, " memory=%d", p.budget.Memory)
	}
	b.WriteByte('\n')
	for _, n := range p.nodes {
		fmt.Fprintf(&b, "  %s: %s", n.id, n.kind)
		n.describe(&b)
		n.opts.describe(&b)
		b.WriteByte('\n')
	}
	return b.String()
}

// withoutAddresses leaves out those of functions and pointers in a declaration: they differ from process to process.
func withoutAddresses(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "0x")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if s = strings.TrimLeft(after, "0123456789abcdef"); len(after)-len(s) >= 4 {
			b.WriteString("func")
		} else {
			b.WriteString("0x" + after[:len(after)-len(s)])
		}
	}
}

// describe writes the settings and the inputs of a stage.
func (n *node) describe(b *strings.Builder) {
	if n.decl != nil && !isFunc(n.decl) {
		b.WriteString(" " + withoutAddresses(fmt.Sprintf("%+v", n.decl)))
	}
	for _, in := range n.ins {
		fmt.Fprintf(b, " from=%s", in.id)
	}
}

func (o *options) describe(b *strings.Builder) {
	for _, v := range []struct {
		key string
		n   int
	}{{"workers", o.workers}, {"buffer", o.buffer}, {"window", o.window}} {
		if v.n != 0 {
			fmt.Fprintf(b, " %s=%d", v.key, v.n)
		}
	}
	if o.order != "" && o.order != InputOrder {
		fmt.Fprintf(b, " order=%s", o.order)
	}
	if o.onError != "" && o.onError != Fail {
		fmt.Fprintf(b, " on_error=%s", o.onError)
	}
	if o.maxSkips > 0 {
		fmt.Fprintf(b, " max_count=%d", o.maxSkips)
	}
	if o.maxSkipRate > 0 {
		fmt.Fprintf(b, " max_rate=%g", o.maxSkipRate)
	}
	if o.attempts > 0 {
		fmt.Fprintf(b, " retry=%d backoff=%v", o.attempts, o.backoff)
	}
	if o.timeout > 0 {
		fmt.Fprintf(b, " timeout=%v", o.timeout)
	}
	if o.sampler != nil {
		fmt.Fprintf(b, " sampler=%s%+v", kindOf(o.sampler), o.sampler)
	}
}

// isFunc says that a declaration wraps a plain function, which has no settings to write out.
func isFunc(decl any) bool {
	_, ok := decl.(interface{ plain() })
	return ok
}
