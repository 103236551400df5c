package registry

import "github.com/penstock-go/penstock/graph"

// Names of the kinds that join several edges. They are part of the engine, so every catalog has them.
const (
	MergeName = "merge"
	MixName   = "mix"
)

// mixing is [graph.Mixing] as a spec writes it.
type mixing struct {
	Weights []float64
	Stop    string
}

func (m *mixing) bind(f *Fields) {
	f.Floats(&m.Weights, "weights", nil, "shares of the inputs, in the order of from and in any unit; none: equal shares", Over(0))
	f.Choice(&m.Stop, "stop", string(graph.StopFirst), "when an epoch ends: with the first input that has run out, when all have, "+
		"or when each was gone through once, those that run out earlier being repeated",
		string(graph.StopFirst), string(graph.StopAll), string(graph.StopRepeat))
}

// joints are the entries of the kinds that join edges of any one type.
func joints() []Entry {
	merge := newEntry[struct{}](RoleMerge, Meta{
		Name: MergeName, Summary: "Takes one item from each stage in from in turn, within an epoch; an input that ends drops out.",
		Example: "merge: {}",
	}, nil)
	mix := newEntry(RoleMerge, Meta{
		Name: MixName, Summary: "Takes items from the stages in from in asked shares, kept within one item at every output.",
		Example: "mix: {weights: [0.7, 0.3], stop: first}",
	}, (*mixing).bind)
	mix.Random = true
	return []Entry{merge, mix}
}

// JoinAll declares a kind of [RoleMerge], with a config that Decode made. All ins carry the same; there must be one.
func (e Entry) JoinAll(p *graph.Pipeline, id string, config any, ins []Port, opts []graph.Option) Port {
	return ins[0].joined(p, id, config, ins, opts)
}

// joined is the typed half of JoinAll.
func joined[T any](p *graph.Pipeline, id string, config any, ins []Port, opts []graph.Option) Port {
	typed := make([]graph.Port[T], len(ins))
	for i, in := range ins {
		typed[i] = in.port.(graph.Port[T])
	}
	if m, ok := config.(mixing); ok {
		return erase(graph.Mix(p, id, typed, graph.Mixing{Weights: m.Weights, Stop: graph.StopRule(m.Stop)}, opts...))
	}
	return erase(graph.Merge(p, id, typed, opts...))
}
