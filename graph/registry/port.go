package registry

import "github.com/penstock-go/penstock/graph"

// Port is a [graph.Port] whose type is known only to the entry that made it. The zero value is no port.
type Port struct {
	Carries string // display name of the type: "samples", "batches"
	port    any
	key     any
	joined  func(p *graph.Pipeline, id string, config any, ins []Port, opts []graph.Option) Port
}

func erase[T any](p graph.Port[T]) Port {
	return Port{Carries: TypeName[T](), port: p, key: typeKey[T]{}, joined: joined[T]}
}

// PortOf gives the typed port back, if that is its type.
func PortOf[T any](p Port) (graph.Port[T], bool) {
	t, ok := p.port.(graph.Port[T])
	return t, ok
}

// MakePort is a typed port as one that stages of a spec can be joined to.
func MakePort[T any](p graph.Port[T]) Port { return erase(p) }

// Join declares the kind in a pipeline, with a config that Decode made. in is the upstream port, which must carry what
// the entry takes (see [Kind.For]); a source ignores it. The result of a sink is no port.
func (e Entry) Join(p *graph.Pipeline, id string, config any, in Port, opts []graph.Option) Port {
	return e.join(p, id, config, in, opts)
}

func joinSource[C graph.Source[T], T any](p *graph.Pipeline, id string, config any, _ Port, opts []graph.Option) Port {
	return erase(graph.From[T](p, id, config.(C), opts...))
}

func joinStage[C graph.Stage[A, B], A, B any](_ *graph.Pipeline, id string, config any, in Port, opts []graph.Option) Port {
	return erase(graph.Via[A, B](in.port.(graph.Port[A]), id, config.(C), opts...))
}

func joinSink[C graph.Sink[T], T any](_ *graph.Pipeline, id string, config any, in Port, opts []graph.Option) Port {
	graph.Into[T](in.port.(graph.Port[T]), id, config.(C), opts...)
	return Port{}
}

// Sampler makes the entry of a sampler, which is named by the key sampler of a source. bind
// is nil for one without fields.
func Sampler[C graph.Sampling](m Meta, bind func(*C, *Fields)) Entry {
	e := newEntry(RoleSampler, m, bind)
	e.sampler = func(config any) graph.Sampling { return config.(C) }
	return e
}

// AsSampler is a config that Decode of a sampler's entry made, as what it is.
func (e Entry) AsSampler(config any) graph.Sampling { return e.sampler(config) }
