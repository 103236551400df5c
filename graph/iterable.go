package graph

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/shard"
)

// interleave is how many splits of an iterable are read in turn where the source does not say.
const interleave = 8

// splitsOf is the order of an iterable's splits.
func (b *builder) splitsOf(s *stageRun, splits int) (order Places, err error) {
	if splits < 1 {
		return nil, b.wrapOpen(s, -1, "open", fmt.Errorf("%w: the source %q has no splits", ErrEmpty, s.n.id))
	}
	o := s.n.opts.sampler
	if o == nil {
		return inOrder(splits), nil
	}
	if k := kindOf(o); k != "sequential" && k != "shuffled" {
		return nil, b.wrapOpen(s, -1, "open", fmt.Errorf("an iterable is read forward: its sampler is sequential or shuffled (which permutes splits), got %s", k))
	}
	if err = engine.Safely(func() (err error) {
		order, err = o.Places(int64(splits), stageKey(b.p.seed, s.n.id))
		return err
	}); err != nil {
		return nil, b.wrapOpen(s, -1, "open", err)
	}
	return order, nil
}

// forwardOf finds which splits are the rank's, and where to go on.
func (b *builder) forwardOf(s *stageRun, number, splits, width int) (*forward, *SourceState, error) {
	p, src := b.p, &b.run.sources[number]
	if p.world.Size() > 1 && p.steps == 0 {
		return nil, nil, b.wrapOpen(s, -1, "open", errors.New("nobody knows how many records its splits have, so the ranks would not make equally many steps; set steps_per_epoch"))
	}
	src.len = int64(splits)
	f := &forward{world: p.world, all: splits, resumed: -1}
	if p.world.Shares(int64(splits)) {
		f.world = shard.World{}
		b.run.warn(fmt.Sprintf("the source %q has %d splits for %d ranks: each rank reads all of them and keeps one record of %d; the others count as filtered",
			s.n.id, splits, p.world.World, p.world.World))
	}
	f.own = int(f.world.Number(int64(splits)))
	at, err := b.sourceAt(s, number, *src)
	if err != nil {
		return nil, nil, err
	}
	if at != nil {
		f.resumed = b.resume.Epoch
		if x := at.Splits; x != nil {
			if !x.fits(min(width, f.own)) {
				return nil, nil, b.wrapOpen(s, -1, "resume", fmt.Errorf("%w: it reads another number of splits in turn", ErrState))
			}
			if len(x.Lanes) > 0 {
				f.marks = append(f.marks, x.mark(f.resumed))
			}
		}
	}
	s.steps = func(q quota) { f.quota = &q }
	src.forward, src.finish = f, f.finish
	return f, at, nil
}

// openIterable opens a source that is read forward, in splits.
func openIterable[T any](b *builder, s *stageRun, number int, r Reader[T]) error {
	order, err := b.splitsOf(s, r.Splits)
	if err != nil {
		return err
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
	f, at, err := b.forwardOf(s, number, r.Splits, width)
	if err != nil {
		return err
	}
	width = min(width, f.own)
	s.workers = min(s.workers, width)
	lanes := make([]iterLane[T], width)
	h := hooksOf[T](b.index)
	fail := wrapper(b, s, &h, "read")
	e := &engine.Splits[T]{
		Meter: s.m, Workers: s.workers, Width: width, N: f.own, Most: f.number(maxTurns - f.all), Epochs: b.p.epochs, Out: newEdge[T](b, s),
		Quota: f.limit, Over: f.ended, Note: f.note,
		Fail: func(err error) error { return b.wrapOpen(s, -1, "read", err) },
		Read: func(lane int, epoch int64, turn int, from int64, emit func(T) error) error {
			l := &lanes[lane]
			if err := l.open(b.eng.Context(), r); err != nil {
				return err
			}
			call := b.newCall(s.n)
			turn = f.turnOf(turn)
			call.at(&edge.Tag{Place: item.SplitPlace(turn, 0), Epoch: int32(epoch), Source: uint16(number)})
			return l.r.Read(call, int(order.Index(epoch, int64(turn%f.all))), from, emit)
		},
		Tag: func(epoch int64, turn int, record int64) edge.Tag {
			turn = f.turnOf(turn)
			t := edge.Tag{Place: item.SplitPlace(turn, record), Epoch: int32(epoch), Source: uint16(number)}
			if turn >= f.all {
				t.Flags |= edge.Padding
			}
			return t
		},
		Wrap: func(lane int, t *edge.Tag, err error) error {
			return fail(lane, &edge.Cell[T]{Tag: marked(t)}, err)
		},
		Drop: h.dropQuietly,
	}
	if w := b.run.water; w != nil {
		e.Came = w.came
	}
	s.passes = func(marks bool) { f.endless, e.Marks = true, marks }
	if b.p.world.Shares(int64(r.Splits)) {
		e.Keep = b.p.world.Keeps
	}
	if at != nil && b.resume.Epoch > 0 || at != nil && at.Splits != nil {
		from := engine.SplitMark{Epoch: b.resume.Epoch}
		if x := at.Splits; x != nil {
			from, e.Until, e.Again = x.mark(b.resume.Epoch), item.SplitPlace(x.Split, x.Record), len(at.Child) > 0
		}
		e.From = &from
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
	s.staff = e
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
