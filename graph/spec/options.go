package spec

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
)

// forever is epochs: forever.
const forever = -1

// settings are the keys of the pipeline, decoded.
type settings struct {
	name   string
	seed   uint64
	epochs int // forever: -1
	cpu    float64
	memory int64
	rank   int // -1: not given
	world  int // 0: not given
	uneven string
	steps  int
}

// options are the keys that every stage has, decoded. 0 and "" are what a Go program that gives no option gets.
type options struct {
	workers, buffer, window int
	order                   string
	policies                policies
	sampler                 *registry.Entry
	samplerConfig           any
}

// notBuilt are reserved keys that nothing reads yet.
var notBuilt = map[string]bool{
	"cache": true,
}

func (c *builder) settings(d *draft) settings {
	s := settings{epochs: 1, rank: -1}
	name, ok := d.keys["pipeline"]
	if !ok {
		c.add(d.at, "", "missing_key", "pipeline is missing", "pipeline names it in reports and messages: pipeline: NAME")
	} else {
		s.name = read(c, "", name, func(v registry.Value, f string) (string, *registry.Problem) {
			return registry.ReadText(v, f, registry.Length(1, 100))
		})
		if strings.ContainsFunc(s.name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			c.add(name.Value.At, "", "field_value", "pipeline: a name has no line breaks and control characters", "")
		}
	}
	for _, key := range sortedKeys(d.keys) {
		m := d.keys[key]
		switch {
		case notBuilt[key]:
			c.notSupported(m.At, "", key)
		case key == "seed":
			s.seed = read(c, "", m, registry.ReadUint64)
		case key == "epochs":
			s.epochs = cmp.Or(read(c, "", m, readEpochs), 1)
		case key == "budget":
			c.budget(&s, m)
		default:
			c.ranks(&s, m)
		}
	}
	if m, ok := d.keys["rank"]; ok && !has(d, "world") {
		c.add(m.At, "", "missing_key", "rank is given without world", "world is the number of the job's processes; a launcher's variables set both")
	} else if s.world > 0 && s.rank >= s.world {
		c.add(m.Value.At, "", "field_range", fmt.Sprintf("rank must be from 0 to %d in a world of %d, got %d", s.world-1, s.world, s.rank), "")
	}
	return s
}

func has(d *draft, key string) bool {
	_, ok := d.keys[key]
	return ok
}

// ranks decodes the keys that concern a job of several processes.
func (c *builder) ranks(s *settings, m registry.Member) {
	switch m.Key {
	case "rank":
		s.rank = read(c, "", m, func(v registry.Value, f string) (int, *registry.Problem) {
			return registry.ReadInt(v, f, registry.Min(0), registry.Max(graph.MaxWorld-1))
		})
	case "world":
		s.world = read(c, "", m, func(v registry.Value, f string) (int, *registry.Problem) {
			return registry.ReadInt(v, f, registry.Min(1), registry.Max(graph.MaxWorld))
		})
	case "uneven":
		s.uneven = read(c, "", m, func(v registry.Value, f string) (string, *registry.Problem) {
			return registry.ReadChoice(v, f, string(graph.Pad), string(graph.Drop), string(graph.Keep))
		})
	case "steps_per_epoch":
		s.steps = read(c, "", m, func(v registry.Value, f string) (int, *registry.Problem) {
			return registry.ReadInt(v, f, registry.Min(1), registry.Max(graph.MaxSteps))
		})
	}
}

// jobOptions are the settings of a job of several processes. Where only the world is known, the first rank stands for
// all: what a spec lacks does not depend on the rank.
func (s *settings) jobOptions() (opts []graph.PipelineOption) {
	if s.world > 0 {
		opts = append(opts, graph.Rank(max(0, s.rank), s.world))
	}
	if s.uneven != "" {
		opts = append(opts, graph.Uneven(graph.UnevenBy(s.uneven)))
	}
	if s.steps > 0 {
		opts = append(opts, graph.StepsPerEpoch(s.steps))
	}
	return opts
}

// read decodes one member and reports its problem. The result is the zero value then.
func read[T any](c *builder, stage string, m registry.Member, f func(registry.Value, string) (T, *registry.Problem)) T {
	x, p := f(m.Value, m.Key)
	if p != nil {
		c.problem(stage, m.Value.At, *p)
		var zero T
		return zero
	}
	return x
}

func (c *builder) notSupported(at any, stage, key string) {
	c.add(at, stage, "not_supported", fmt.Sprintf("%s is not built yet", key), "leave it out")
}

func readEpochs(v registry.Value, field string) (int, *registry.Problem) {
	if word(v) == "forever" {
		return forever, nil
	}
	n, p := registry.ReadInt(v, field, registry.Min(1))
	if p != nil && p.Hint == "" {
		p.Hint = "a number from 1, or forever"
	}
	return n, p
}

// word is the text of a scalar, else "".
func word(v registry.Value) string {
	if v.Form == registry.List || v.Form == registry.Map {
		return ""
	}
	return v.Text
}

func (c *builder) budget(s *settings, m registry.Member) {
	if m.Value.Form != registry.Map {
		c.add(m.Value.At, "", "field_type", "budget: wanted {cpu, memory}, got "+m.Value.Describe(), "budget: {cpu: 80%, memory: 2GiB}")
		return
	}
	for _, b := range m.Value.Members {
		b.Key = "budget." + b.Key
		switch b.Key {
		case "budget.cpu":
			s.cpu = read(c, "", b, readShare)
		case "budget.memory":
			s.memory = read(c, "", b, func(v registry.Value, f string) (int64, *registry.Problem) {
				return registry.ReadSize(v, f, registry.Min(1))
			})
		default:
			key := strings.TrimPrefix(b.Key, "budget.")
			hint := meant(key, []string{"cpu", "memory"})
			if hint == "" {
				hint = "the keys are cpu and memory"
			}
			c.add(b.At, "", "unknown_key", fmt.Sprintf("unknown key %q in budget", key), hint)
		}
	}
}

// readShare reads "80%": more than 0 and at most 100 %.
func readShare(v registry.Value, field string) (float64, *registry.Problem) {
	problem := func(code, msg string) (float64, *registry.Problem) {
		return 0, &registry.Problem{At: v.At, Field: field, Code: code, Msg: field + msg}
	}
	num, ok := strings.CutSuffix(word(v), "%")
	if !ok {
		return problem("field_type", ": wanted a share of the cores such as 80%, got "+v.Describe())
	}
	x, err := strconv.ParseFloat(num, 64)
	if err != nil || strings.ContainsAny(num, "xXnNiI_+") {
		return problem("field_type", ": wanted a share of the cores such as 80%, got "+v.Describe())
	}
	if !(x > 0 && x <= 100) {
		return problem("field_range", " must be more than 0% and at most 100%, got "+v.Describe())
	}
	return x / 100, nil
}

func readCount(most int) func(v registry.Value, field string) (int, *registry.Problem) {
	return func(v registry.Value, field string) (int, *registry.Problem) {
		if word(v) == "auto" {
			return 0, nil
		}
		n, p := registry.ReadInt(v, field, registry.Min(1), registry.Max(most))
		if p != nil && p.Hint == "" {
			p.Hint = fmt.Sprintf("a number from 1 to %d, or auto", most)
		}
		return n, p
	}
}

// stageKeys decodes the keys that every stage has and says which of them do not fit the stage. Settings that do nothing
// beside others are found by the graph.
func (c *builder) stageKeys(s *stage) {
	for _, key := range sortedKeys(s.keys) {
		m := s.keys[key]
		if notBuilt[key] {
			c.notSupported(m.At, s.label, key)
			continue
		}
		if c.misplaced(s, m) {
			continue
		}
		switch key {
		case "workers":
			s.options.workers = read(c, s.label, m, readCount(graph.MaxWorkers))
		case "buffer":
			s.options.buffer = read(c, s.label, m, readCount(graph.MaxBuffer))
		case "window":
			s.options.window = read(c, s.label, m, readCount(graph.MaxBuffer))
		case "order":
			s.options.order = read(c, s.label, m, func(v registry.Value, f string) (string, *registry.Problem) {
				return registry.ReadChoice(v, f, "input", "completion")
			})
		case "on_error":
			c.onError(s, m)
		case "retry":
			c.retry(s, m)
		case "timeout":
			c.timeout(s, m)
		case "sampler":
			c.sampler(s, m)
		}
	}
}

// misplaced refuses keys that cannot mean anything for the stage's role.
func (c *builder) misplaced(s *stage, m registry.Member) bool {
	role := s.role()
	code, msg := "serial_stage", ""
	switch {
	case role == "" || m.Key == "from" && role != registry.RoleSource:
		return false
	case m.Key == "from":
		code, msg = "source_input", "a source has no input"
	case m.Key == "sampler" && role != registry.RoleSource:
		code, msg = "not_a_source", "only a source has a sampler"
	case s.merge && m.Key == "workers":
		msg = s.kind.Name + " has no workers: it passes items on as they come"
	case s.merge && (m.Key == "window" || m.Key == "order" || m.Key == "on_error" || m.Key == "retry" || m.Key == "timeout"):
		msg = fmt.Sprintf("%s has no %s: it takes items from its inputs in turn", s.kind.Name, m.Key)
	case role == registry.RoleSink && m.Key == "workers" && word(m.Value) != "1" && word(m.Value) != "auto":
		msg = "a sink takes one item after the other, so it has one worker"
	case role == registry.RoleSink && (m.Key == "buffer" || m.Key == "window" || m.Key == "order" || m.Key == "on_error" || m.Key == "retry" || m.Key == "timeout"):
		msg = fmt.Sprintf("a sink takes items one by one and has no %s", m.Key)
	default:
		return false
	}
	c.add(m.At, s.label, code, msg, "leave "+m.Key+" out")
	return true
}

// sampler reads `shuffled`, or `{name: {...}}` for one with fields; `{name: x}` gives its first field.
func (c *builder) sampler(s *stage, m registry.Member) {
	name, at, body := word(m.Value), m.Value.At, registry.Value{Form: registry.Map}
	if ms := m.Value.Members; len(ms) == 1 {
		name, at, body = ms[0].Key, ms[0].At, ms[0].Value
	}
	k, ok := c.catalog.Sampler(name)
	switch {
	case ok:
		c.setSampler(s, k, at, body)
	case name == "":
		c.add(at, s.label, "field_type", "sampler: wanted the name of a sampler, got "+m.Value.Describe(), "write sampler: NAME, or sampler: {NAME: {FIELDS}}")
	default:
		var names []string
		for _, k := range c.catalog.Samplers() {
			names = append(names, k.Name)
		}
		hint := meant(name, names)
		if hint == "" {
			hint = "there is " + strings.Join(names, ", ")
		}
		c.add(at, s.label, "field_value", fmt.Sprintf("unknown sampler %q", name), hint)
	}
}

func (c *builder) setSampler(s *stage, k registry.Kind, at any, body registry.Value) {
	e := k.Entries[0]
	fields := body.Members
	switch {
	case body.Form == registry.Map, body.Null():
	case len(e.Fields) == 0:
		c.add(body.At, s.label, "field_type", fmt.Sprintf("sampler %s takes nothing, got %s", k.Name, body.Describe()), "write sampler: "+k.Name)
		return
	default:
		fields = []registry.Member{{Key: e.Fields[0].Name, At: body.At, Value: body}}
	}
	config, problems := e.Decode(fields, c.dir)
	problems = append(problems, c.outside(e, fields)...)
	for _, p := range problems {
		p.Msg = "sampler " + k.Name + ": " + p.Msg
		c.problem(s.label, at, p)
	}
	if len(problems) == 0 {
		s.options.sampler, s.options.samplerConfig = &e, config
	}
}

func (s *stage) role() registry.Role {
	switch {
	case s.merge:
		return registry.RoleStage
	case s.known:
		return s.kind.Role
	}
	return ""
}
