package spec

import (
	"fmt"
	"time"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
)

// What retry takes where it does not say otherwise.
const (
	defaultAttempts = 3
	defaultBackoff  = 100 * time.Millisecond
)

// policies are the stage keys on_error, retry and timeout, decoded. Zero is what is not given.
type policies struct {
	onError  string
	maxCount int
	maxRate  float64
	attempts int
	backoff  time.Duration
	timeout  time.Duration
}

func (p policies) graphOptions() []graph.Option {
	var opts []graph.Option
	switch p.onError {
	case "fail":
		opts = append(opts, graph.OnError(graph.Fail))
	case "skip":
		opts = append(opts, graph.OnError(graph.Skip))
	}
	if p.maxCount > 0 || p.maxRate > 0 {
		opts = append(opts, graph.MaxSkips(int64(p.maxCount), p.maxRate))
	}
	if p.attempts > 0 {
		opts = append(opts, graph.Retry(p.attempts, p.backoff))
	}
	if p.timeout > 0 {
		opts = append(opts, graph.Timeout(p.timeout))
	}
	return opts
}

const onErrorForms = "fail, skip or {skip: {max_count: 100, max_rate: 0.01}}"

// onError reads `skip`, or `{skip: {...}}` with bounds.
func (c *builder) onError(s *stage, m registry.Member) {
	p := &s.options.policies
	if m.Value.Form != registry.Map {
		p.onError = read(c, s.label, m, func(v registry.Value, f string) (string, *registry.Problem) {
			w, e := registry.ReadChoice(v, f, "fail", "skip")
			if e != nil && e.Hint == "" {
				e.Hint = onErrorForms
			}
			return w, e
		})
		return
	}
	if len(m.Value.Members) != 1 {
		c.add(m.Value.At, s.label, "field_type", fmt.Sprintf("on_error: wanted one of fail and skip, got %d keys", len(m.Value.Members)), onErrorForms)
		return
	}
	k := m.Value.Members[0]
	switch {
	case k.Key == "fail":
		c.add(k.At, s.label, "field_type", "on_error: fail has no bounds", "write on_error: fail")
		return
	case k.Key != "skip":
		hint := meant(k.Key, []string{"skip"})
		if hint == "" {
			hint = onErrorForms
		}
		c.add(k.At, s.label, "unknown_key", fmt.Sprintf("unknown key %q in on_error", k.Key), hint)
		return
	}
	p.onError = "skip"
	c.keysOf(s, k, "on_error.skip", map[string]func(registry.Member){
		"max_count": func(m registry.Member) {
			p.maxCount = read(c, s.label, m, func(v registry.Value, f string) (int, *registry.Problem) {
				return registry.ReadInt(v, f, registry.Min(1))
			})
		},
		"max_rate": func(m registry.Member) {
			p.maxRate = read(c, s.label, m, func(v registry.Value, f string) (float64, *registry.Problem) {
				return registry.ReadFloat(v, f, registry.Over(0), registry.Max(1))
			})
		},
	})
}

func (c *builder) retry(s *stage, m registry.Member) {
	p := &s.options.policies
	p.attempts, p.backoff = defaultAttempts, defaultBackoff
	c.keysOf(s, m, "retry", map[string]func(registry.Member){
		"attempts": func(m registry.Member) {
			p.attempts = read(c, s.label, m, func(v registry.Value, f string) (int, *registry.Problem) {
				return registry.ReadInt(v, f, registry.Min(1), registry.Max(graph.MaxAttempts))
			})
		},
		"backoff": func(m registry.Member) {
			p.backoff = read(c, s.label, m, func(v registry.Value, f string) (time.Duration, *registry.Problem) {
				return registry.ReadDuration(v, f, registry.Min(time.Duration(0)))
			})
		},
	})
}

func (c *builder) timeout(s *stage, m registry.Member) {
	s.options.policies.timeout = read(c, s.label, m, func(v registry.Value, f string) (time.Duration, *registry.Problem) {
		return registry.ReadDuration(v, f, registry.Over(time.Duration(0)))
	})
}

// keysOf reads the map of a stage key, each of its keys by its own reader.
func (c *builder) keysOf(s *stage, m registry.Member, path string, readers map[string]func(registry.Member)) {
	names := sortedKeys(readers)
	if m.Value.Form != registry.Map {
		c.add(m.Value.At, s.label, "field_type", fmt.Sprintf("%s: wanted a map of %s, got %s", path, joined(names), m.Value.Describe()), wayOut[path])
		return
	}
	for _, k := range m.Value.Members {
		f, ok := readers[k.Key]
		if !ok {
			hint := meant(k.Key, names)
			if hint == "" {
				hint = "the keys are " + joined(names)
			}
			c.add(k.At, s.label, "unknown_key", fmt.Sprintf("unknown key %q in %s", k.Key, path), hint)
			continue
		}
		k.Key = path + "." + k.Key
		f(k)
	}
}

var wayOut = map[string]string{
	"retry":         "retry: {attempts: 3, backoff: 100ms}",
	"on_error.skip": "on_error: skip, or on_error: {skip: {max_count: 100, max_rate: 0.01}}",
}

func joined(two []string) string { return two[0] + " and " + two[1] }

func policySchemas() object {
	length := durationSchema()
	return object{
		"on_error": describe(object{"anyOf": array(object{"enum": array("fail", "skip")}, object{
			"type": "object", "additionalProperties": false, "required": array("skip"), "properties": object{
				"skip": object{"type": "object", "additionalProperties": false, "properties": object{
					"max_count": describe(number("integer", object{"minimum": 1}), "One more ends the run. Default: no bound."),
					"max_rate": describe(number("number", object{"exclusiveMinimum": 0, "maximum": 1}),
						"A larger share of the items ends the run, from the hundredth on. Default: no bound."),
				}},
			}})}, "What becomes of an item that fails. Default fail."),
		"retry": describe(object{"type": "object", "additionalProperties": false, "properties": object{
			"attempts": describe(number("integer", object{"minimum": 1, "maximum": graph.MaxAttempts}),
				fmt.Sprintf("In all, with the first. Default %d.", defaultAttempts)),
			"backoff": describe(length, fmt.Sprintf("Pause before the second attempt; it doubles with each. Default %v.", defaultBackoff)),
		}}, "Tries an item again whose error may pass. Default: one attempt."),
		"timeout": describe(length, "Longest time of one call for one item. Default: none."),
	}
}
