package spec

import (
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/graph/registry"
)

// wire resolves from and finds faults of the graph that need no types.
func (c *builder) wire(stages []*stage) {
	byID := c.index(stages)
	for i, s := range stages {
		c.inputs(s, i, stages, byID)
	}
	c.checkInputs(stages)
	c.cycles(stages)
	c.checkEnds(stages)
}

// index finds duplicate ids; the first bearer keeps the name.
func (c *builder) index(stages []*stage) map[string]*stage {
	byID := map[string]*stage{}
	for _, s := range stages {
		if s.id == "" {
			continue
		}
		if first, ok := byID[s.id]; ok {
			p, _ := first.at.(place)
			c.add(s.at, s.label, "duplicate_id", fmt.Sprintf("id %q is already taken in line %d", s.id, p.line), "")
			continue
		}
		byID[s.id] = s
	}
	return byID
}

func (c *builder) inputs(s *stage, i int, stages []*stage, byID map[string]*stage) {
	m, given := s.keys["from"]
	switch {
	case s.role() == registry.RoleSource:
		return
	case !given && i == 0:
		return
	case !given:
		s.inputs = []ref{{name: stages[i-1].label, at: s.at, to: stages[i-1]}}
		return
	}
	names := []registry.Value{m.Value}
	if m.Value.Form == registry.List {
		names = m.Value.Items
	}
	for _, v := range names {
		name, p := registry.ReadText(v, "from")
		if p != nil {
			c.problem(s.label, v.At, *p)
			s.inputs = append(s.inputs, ref{at: v.At})
			continue
		}
		to := byID[name]
		if to == nil {
			ids := sortedKeys(byID)
			c.add(v.At, s.label, "unknown_from", fmt.Sprintf("from: there is no stage %q", name), meant(name, ids))
			to = byID[registry.Near(name, ids)]
			s.inputs = append(s.inputs, ref{name: name, at: v.At, to: to})
			continue
		}
		for _, r := range s.inputs {
			if r.to == to {
				c.add(v.At, s.label, "duplicate_from", fmt.Sprintf("from names %q twice", name), "")
			}
		}
		s.inputs = append(s.inputs, ref{name: name, at: v.At, to: to})
	}
}

func (c *builder) checkInputs(stages []*stage) {
	for _, s := range stages {
		m, given := s.keys["from"]
		switch role := s.role(); {
		case role == registry.RoleSource, role == "":
		case len(s.inputs) == 0 && given:
			c.add(m.At, s.label, "missing_input", "from is empty", "name the stage whose items it takes")
		case len(s.inputs) == 0:
			c.add(s.kindAt, s.label, "missing_input", fmt.Sprintf("the first stage must be a source, %s is not", s.kindName),
				"begin with a source: "+strings.Join(c.sources(), ", "))
		case s.merge && len(s.inputs) == 1:
			c.add(s.kindAt, s.label, "merge_inputs", fmt.Sprintf("a %s needs at least two inputs, got 1", s.kind.Name), "name them: from: [A, B]")
		case !s.merge && len(s.inputs) > 1:
			c.add(m.Value.At, s.label, "too_many_inputs", fmt.Sprintf("%s takes one input, from names %d", s.kindName, len(s.inputs)),
				"join them with a stage merge: {} or mix: {} before it")
		}
	}
}

func (c *builder) sources() []string {
	var names []string
	for _, k := range c.catalog.Kinds() {
		if k.Role == registry.RoleSource {
			names = append(names, k.Name)
		}
	}
	return names
}

// cycles reports each cycle once, at its stage that stands first in the file, with its path in the direction of flow.
func (c *builder) cycles(stages []*stage) {
	const (
		fresh = iota
		open
		done
	)
	state := map[*stage]int{}
	var path []*stage
	var visit func(s *stage)
	visit = func(s *stage) {
		state[s] = open
		path = append(path, s)
		for _, r := range s.inputs {
			switch {
			case r.to == nil:
			case state[r.to] == fresh:
				visit(r.to)
			case state[r.to] == open:
				c.reportCycle(path, r.to, stages)
			}
		}
		path = path[:len(path)-1]
		state[s] = done
	}
	for _, s := range stages {
		if state[s] == fresh {
			visit(s)
		}
	}
}

// reportCycle gets the path against the flow; start is the stage at which it closes.
func (c *builder) reportCycle(path []*stage, start *stage, stages []*stage) {
	var loop []*stage
	for i := len(path) - 1; i >= 0; i-- {
		loop = append(loop, path[i])
		if path[i] == start {
			break
		}
	}
	first := 0
	for i, s := range loop {
		if position(stages, s) < position(stages, loop[first]) {
			first = i
		}
	}
	loop = append(loop[first:len(loop):len(loop)], loop[:first]...)
	names := make([]string, 0, len(loop)+1)
	for _, s := range append(loop, loop[0]) {
		names = append(names, s.label)
		s.inCycle = true
	}
	at := loop[0].at
	if m, ok := loop[0].keys["from"]; ok {
		at = m.Value.At
	}
	c.add(at, loop[0].label, "cycle", "the stages go round in a circle: "+strings.Join(names, " -> "), "items flow from a source to a sink")
}

func position(stages []*stage, s *stage) int {
	for i := range stages {
		if stages[i] == s {
			return i
		}
	}
	return -1
}

// checkEnds looks at who takes what each stage makes: exactly one stage, until the one sink.
func (c *builder) checkEnds(stages []*stage) {
	takers := map[*stage][]*stage{}
	var sinks []*stage
	lost, unknownEnd := false, false
	for _, s := range stages {
		for _, r := range s.inputs {
			if r.to == nil {
				lost = true
			} else {
				takers[r.to] = append(takers[r.to], s)
			}
		}
		if s.role() == registry.RoleSink {
			sinks = append(sinks, s)
		}
	}
	for i, s := range stages {
		last := i == len(stages)-1
		switch role := s.role(); {
		case role == "":
			unknownEnd = unknownEnd || len(takers[s]) == 0
		case role == registry.RoleSink:
			c.checkSink(s, takers[s], sinks)
		case len(takers[s]) > 1 && len(sinks) < 2:
			c.add(takers[s][1].at, takers[s][1].label, "used_twice", fmt.Sprintf("the output of %q is already taken by %q", s.label,
				takers[s][0].label), "a stage's output goes to one stage; set from")
		case len(takers[s]) == 0 && !lost && !s.inCycle && !(last && len(sinks) == 0):
			c.add(s.at, s.label, "no_reader", "nobody takes the stage's output", "name it in the from of another stage; several inputs are joined by merge: {}")
		}
	}
	if len(sinks) == 0 && !unknownEnd && len(stages) > 0 {
		s := stages[len(stages)-1]
		c.add(s.at, s.label, "no_sink", "the pipeline has no sink", "end it with one: "+strings.Join(c.sinkNames(), ", "))
	}
}

func (c *builder) checkSink(s *stage, takers, sinks []*stage) {
	if s != sinks[0] {
		c.add(s.at, s.label, "two_sinks", fmt.Sprintf("the pipeline has a sink already, %q", sinks[0].label), "a pipeline has one sink; make two specs")
	}
	for _, t := range takers {
		if t.role() == registry.RoleSink {
			continue
		}
		c.add(s.at, s.label, "sink_in_middle", fmt.Sprintf("a sink has no output, but %q takes from it", t.label), "move the sink to the end or set from")
	}
}

func (c *builder) sinkNames() []string {
	var names []string
	for _, k := range c.catalog.Kinds() {
		if k.Role == registry.RoleSink {
			names = append(names, k.Name)
		}
	}
	return names
}

// flow lists the stages so that each comes after its inputs, else in the order of the file. Stages in or below a cycle
// are left out.
func flow(stages []*stage) []*stage {
	out := make([]*stage, 0, len(stages))
	placed := map[*stage]bool{}
	for again := true; again; {
		again = false
		for _, s := range stages {
			ready := !placed[s]
			for _, r := range s.inputs {
				ready = ready && (r.to == nil || placed[r.to])
			}
			if ready {
				placed[s], again = true, true
				out = append(out, s)
			}
		}
	}
	return out
}
