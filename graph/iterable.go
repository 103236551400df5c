package graph

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/item"
)

// interleave is how many splits of an iterable are read in turn where the source does not say.
const interleave = 8

// openIterable opens a source that is read forward, in splits.
func openIterable[T any](b *builder, s *stageRun, number int, r Reader[T]) error {
	if b.resume != nil {
		return b.wrapOpen(s, -1, "resume", errors.New("a source that is read forward cannot be resumed yet"))
	}
	if r.Splits < 1 {
		return b.wrapOpen(s, -1, "open", fmt.Errorf("%w: the source %q has no splits", ErrEmpty, s.n.id))
	}
	order := Places(inOrder(r.Splits))
	if o := s.n.opts.sampler; o != nil {
		if k := kindOf(o); k != "sequential" && k != "shuffled" {
			return b.wrapOpen(s, -1, "open", fmt.Errorf("an iterable is read forward: its sampler is sequential or shuffled (which permutes splits), got %s", k))
		}
		if err := engine.Safely(func() (err error) {
			order, err = o.Places(int64(r.Splits), stageKey(b.p.seed, s.n.id))
			return err
		}); err != nil {
			return b.wrapOpen(s, -1, "open", err)
		}
	}
	b.places = append(b.places, nil)
	if mix, _ := repeatedBy(s.n); mix != nil {
		return b.wrapOpen(s, -1, "open", fmt.Errorf("the mix %q has stop: repeat, which begins another pass of a source; a source that is read forward does not do that yet: use first or all", mix.id))
	}
	b.steer = append(b.steer, &steering{skipTo: func(int64) {}, pass: func(*edge.Tag) int64 { return 0 }})
	width := r.Interleave
	if width == 0 {
		width = interleave
	}
	width = min(width, r.Splits)
	s.workers = min(s.workers, width)
	lanes := make([]iterLane[T], width)
	h := hooksOf[T](b.index)
	fail := wrapper(b, s, &h, "read")
	e := &engine.Splits[T]{
		Meter: s.m, Workers: s.workers, Width: width, N: r.Splits, Epochs: b.p.epochs, Out: newEdge[T](b, s),
		Read: func(lane int, epoch int64, turn int, emit func(T) error) error {
			l := &lanes[lane]
			if err := l.open(b.eng.Context(), r); err != nil {
				return err
			}
			call := b.newCall(s.n)
			call.at(&edge.Tag{Place: item.SplitPlace(turn, 0), Epoch: int32(epoch), Source: uint16(number)})
			return l.r.Read(call, int(order.Index(epoch, int64(turn))), 0, emit)
		},
		Tag: func(epoch int64, turn int, record int64) edge.Tag {
			return edge.Tag{Place: item.SplitPlace(turn, record), Epoch: int32(epoch), Source: uint16(number)}
		},
		Wrap: func(lane int, t *edge.Tag, err error) error {
			return fail(lane, &edge.Cell[T]{Tag: marked(t)}, err)
		},
		Drop: h.dropQuietly,
	}
	if s.n.skips() {
		e.Skip = func(t *edge.Tag, err error) {
			t.Ext = edge.NewExt()
			if t.Ext.Key = keyIn(err); t.Ext.Key == "" {
				t.Ext.Key = posOf(t).String()
			}
			s.skipped(SkipNote{Key: t.Ext.Key, Pos: posOf(t)}, err)
			t.Ext.Err = err
		}
	}
	finish(b, s, &h, &e.Finish, &e.Hash)
	if h.bytes != nil {
		g := sourceGate(b, s, &h)
		b.eng.OnEnd(g.lane.Stop)
		e.Gate = g
	} else {
		b.run.bytes.known.Store(false)
	}
	b.closes(s, func() error {
		var errs []error
		for i := range lanes {
			errs = append(errs, engine.Safely(lanes[i].close))
		}
		return errors.Join(errs...)
	})
	b.eng.OnDrain(e.Drain)
	b.starts = append(b.starts, func() { e.Start(b.eng) }) // also in a sync run: a split is read by pushing
	if b.p.sync {
		b.pulls[s.n.no] = engine.PullFrom(e.Out, b.run.clock)
	}
	return nil
}

// marked is a tag of an item that does not exist, named by its position.
func marked(t *edge.Tag) edge.Tag {
	m := *t
	m.Flags |= edge.Skipped
	m.Ext = edge.NewExt()
	m.Ext.Key = posOf(t).String()
	return m
}

// iterLane is one lane's own reader.
type iterLane[T any] struct {
	r     Reader[T]
	ready bool
	own   bool // r was made for this lane
}

func (l *iterLane[T]) open(ctx context.Context, r Reader[T]) (err error) {
	if l.ready {
		return nil
	}
	l.r = r
	if r.NewWorker != nil {
		if l.r, err = r.NewWorker(ctx); err != nil {
			return err
		}
		l.own = true
	}
	l.ready = true
	return nil
}

func (l *iterLane[T]) close() error {
	if l.own && l.r.Close != nil {
		return l.r.Close()
	}
	return nil
}
