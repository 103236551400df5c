package graph

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
)

func openSource[T any](b *builder, n *node, src Source[T]) error {
	s := b.begin(n)
	number := b.sources
	b.sources++
	r, err := opening(b, s, src.Open)
	if err != nil {
		return err
	}
	b.closes(s, r.Close)
	s.source, s.iterable = number, r.Read != nil
	me := sourceRun{id: n.id, len: r.Len, fingerprint: r.Fingerprint}
	b.run.sources = append(b.run.sources, me)
	if r.Read != nil {
		return openIterable(b, s, number, r)
	}
	if r.At == nil {
		return b.wrapOpen(s, -1, "open", errors.New("the source sets neither At nor Read"))
	}
	places := Places(inOrder(r.Len))
	if n.opts.sampler != nil && r.Len > 0 {
		if err = engine.Safely(func() (err error) {
			r, places, err = placesOf(n.opts.sampler, r, stageKey(b.p.seed, n.id))
			return err
		}); err != nil {
			return b.wrapOpen(s, -1, "open", err)
		}
		me.fingerprint = r.Fingerprint
		b.run.sources[len(b.run.sources)-1] = me
	}
	if r.Len == 0 || places.Len(0) == 0 {
		return b.wrapOpen(s, -1, "open", fmt.Errorf("%w: the source %q is empty", ErrEmpty, n.id))
	}
	repeats, _ := repeatedBy(n)
	if b.p.world.Size() > 1 || b.p.steps > 0 || repeats != nil {
		places = around{places}
	}
	b.places = append(b.places, places)
	f, err := b.feedOf(s, number, me, places)
	if err != nil {
		return err
	}
	in := edge.New(edge.Config{Buffer: engine.MaxSlice, Producers: 1, Consumers: s.workers}, func(*edge.Cell[struct{}]) {})
	in.Source = f.next
	b.steered(n, f, in)
	s.feeds = &feeding{in: in, next: in.Source, places: places, len: r.Len}
	if b.p.sync {
		s.feeds.next = f.next
	}
	in.Source = func(buf []edge.Cell[struct{}], k int) ([]edge.Cell[struct{}], bool) { return s.feeds.next(buf, k) }
	b.eng.OnDrain(in.Seal)
	e := sourceStage(b, s, in, func(r Reader[T], call *Call) (T, error) { return r.At(call, call.Index()) }, r)
	b.launch(func() { e.Start(b.eng) })
	if b.p.sync {
		var ready []edge.Cell[struct{}]
		b.pulls[n.no] = e.Pull(b.eng, func() (c edge.Cell[struct{}], ok bool, err error) {
			if len(ready) == 0 {
				cells, done := s.feeds.next(nil, 1)
				if done {
					return c, false, f.err
				}
				ready = cells
			}
			c, ready = ready[0], ready[1:]
			return c, true, nil
		})
		b.eng.OnDrain(func() { f.stopped.Store(true) })
	}
	return nil
}

// sourceStage makes the running stage that reads a map-style source.
func sourceStage[T any](b *builder, s *stageRun, in *edge.Edge[struct{}], read func(Reader[T], *Call) (T, error), r Reader[T]) *engine.Stage[struct{}, T] {
	out := newEdge[T](b, s)
	hin, hout := hooksOf[struct{}](b.index), hooksOf[T](b.index)
	wrap := wrapper(b, s, &hin, "read")
	reads := func(r Reader[T]) Transform[struct{}, T] {
		return Transform[struct{}, T]{Map: func(c *Call, _ struct{}) (T, error) { return read(r, c) }, Close: r.Close}
	}
	var own func(context.Context) (Transform[struct{}, T], error)
	if r.NewWorker != nil {
		own = func(ctx context.Context) (Transform[struct{}, T], error) {
			mine, err := r.NewWorker(ctx)
			return reads(mine), err
		}
	}
	e := &engine.Stage[struct{}, T]{
		Meter: s.m, Workers: s.workers, In: in, Out: out,
		Open: func(int) (engine.Body[struct{}, T], func() error, error) {
			return workerOf(b, s, &hin, &hout, reads(r), own)
		},
		Drop:     hin.drop,
		Wrap:     wrap,
		WrapOpen: func(worker int, op string, err error) error { return b.wrapOpen(s, worker, op, err) },
		Key:      hout.keyOf,
		PlaceKey: hin.placeKey,
	}
	finish(b, s, &hout, &e.Finish, &e.Hash)
	s.staff = e
	s.feeds.cached = func(c engine.Cached[struct{}]) { e.Cached = c }
	if hout.bytes == nil {
		b.run.bytes.known.Store(false)
		return e
	}
	g := sourceGate(b, s, &hout)
	s.feeds.lane = g.lane
	in.Upstream(g.lane.Stop)
	b.eng.OnEnd(g.lane.Stop)
	e.Gate = g
	return e
}

// sourceGate makes the gate through which a source's items pass as there are bytes for them.
func sourceGate[T any](b *builder, s *stageRun, h *hooks[T]) *gate[T] {
	peak, grow := peakBelow[T](s.n)
	g := newGate(b.run.bytes, h.bytes, peak, grow, func(c *edge.Cell[T], err error) error {
		s.m.Done.Add(-1)
		s.m.Failed.Add(1)
		return &StageError{Pipeline: b.p.name, Stage: s.n.id, Key: h.keyOf(c), Pos: posOf(&c.Tag), Op: "admit", Err: err}
	})
	s.admitted = g.sums
	return g
}

// peakBelow finds the stages below a source that tell how large its items become; grow says that there are stages
// which do not tell, and none that does.
func peakBelow[T any](n *node) (peak func(T) int64, grow bool) {
	var all []Peaker[T]
	for m := n.next; m != nil && m.role != sinkRole; m = m.next {
		if p, ok := m.decl.(Peaker[T]); ok {
			all = append(all, p)
		}
		if _, ok := m.decl.(Stage[T, T]); !ok {
			break
		}
		grow = true
	}
	return func(v T) int64 {
		var most int64
		for _, p := range all {
			most = max(most, p.Peak(v))
		}
		return most
	}, grow && len(all) == 0
}
