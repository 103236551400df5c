package graph

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/item"
)

// workerOf makes one worker's body, and what closes it. own, if not nil, makes functions that belong to one worker.
func workerOf[A, B any](b *builder, s *stageRun, hin *hooks[A], hout *hooks[B], t Transform[A, B], own func(context.Context) (Transform[A, B], error)) (engine.Body[A, B], func() error, error) {
	w := &body[A, B]{s: s, run: b.eng, call: b.newCall(s.n), hin: hin, hout: hout, skip: s.skipsAny(), owns: own != nil, water: b.run.water}
	o := &s.n.opts
	w.attempts, w.careful = max(1, o.attempts), s.skipsAny() || o.attempts > 1 || o.timeout > 0
	renew := func() (Transform[A, B], error) { return t, nil }
	if own != nil {
		renew = func() (Transform[A, B], error) { return own(b.eng.Context()) }
	}
	var err error
	if t, err = renew(); err != nil {
		return nil, nil, err
	}
	if o.timeout > 0 {
		w.timed = &timed[A, B]{w: w, t: t, renew: renew, limit: o.timeout}
	}
	closing := func() error {
		if w.timed != nil {
			t = w.timed.t
		}
		if own == nil || t.Close == nil {
			return nil
		}
		return t.Close()
	}
	switch {
	case t.Map != nil:
		w.fn = t.Map
		w.fuse(b)
		if !w.careful {
			return w.maps, closing, nil
		}
		w.one = w.mapOne
	case t.Choose != nil:
		w.choose = t.Choose
		w.one = w.chooseOne
	case t.Emit != nil:
		if b.resume != nil {
			w.seen = b.seenAt(s.n)
		}
		w.emitting(t.Emit)
		w.one = w.emitOne
	default:
		return nil, nil, fmt.Errorf("a %s transform sets none of Map, Choose, Emit, Group, Block and Cache", s.n.kind)
	}
	return w.each, closing, nil
}

// fuse readies the calls of the members of a fused stage, and gives the last one its place in the batch.
func (w *body[A, B]) fuse(b *builder) {
	last := w.call
	if n := len(w.s.absorbed); n > 0 {
		w.call.members = make([]Call, n)
		for i, a := range w.s.absorbed {
			w.call.members[i] = *b.newCall(a.n)
		}
		w.call.group, w.call.clock = b.fused[w.s.n], b.run.clock
		w.absorbed = w.s.absorbedMeters()
		last = &w.call.members[n-1]
	}
	w.last, last.slot = last, w.s.slot
}

// body is one worker's way of working on slices.
type body[A, B any] struct {
	s        *stageRun
	call     *Call
	hin      *hooks[A]
	hout     *hooks[B]
	skip     bool
	careful  bool // panics are failures of one item, which may be skipped or tried again
	attempts int
	attempt  int // of the item that failed last
	run      *engine.Run
	timed    *timed[A, B] // nil without a timeout
	owns     bool         // its functions are its own
	fn       func(*Call, A) (B, error)
	choose   func(*Call, A) (B, bool, error)
	emit     func(*Call, A, func(B)) error
	emitFn   func(B)
	emitted  int
	put      int // of them, not delivered by the run that was resumed
	water    *lowWater
	seen     func(*edge.Tag, string) bool
	tag      edge.Tag
	out      *engine.Out[B]
	one      func(c *edge.Cell[A], out *engine.Out[B]) error
	last     *Call           // of the last member, where stages are fused
	absorbed *absorbedMeters // nil where they are not
}

// maps is the loop for one output of each input and no skipping: the common case, kept short.
func (w *body[A, B]) maps(in []edge.Cell[A], out *engine.Out[B]) (int, error) {
	call, fn := w.call, w.fn
	w.begin(out)
	for i := range in {
		c := &in[i]
		if c.Skipped() {
			pass(c, out)
			continue
		}
		out.Cur = i
		call.at(&c.Tag)
		v, err := fn(call, c.V)
		if err != nil {
			return i, err
		}
		out.Put(v, &c.Tag)
		out.Done++
		if w.absorbed != nil {
			w.absorbed.passed(int64(c.Epoch))
		}
		if out.Hurry() {
			return i + 1, nil
		}
	}
	return len(in), nil
}

// begin readies the calls for a slice.
func (w *body[A, B]) begin(out *engine.Out[B]) {
	if w.last != nil && w.last.slot != nil && w.last.place == nil {
		w.last.place = out.Place
	}
	if w.call.room == nil {
		w.call.room = out.Room
	}
	if w.absorbed != nil {
		w.call.lapped = w.call.clock.Now()
	}
}

// pass hands a mark on.
func pass[A, B any](c *edge.Cell[A], out *engine.Out[B]) {
	var none B
	out.Put(none, &c.Tag)
	out.Marks++
}

// each is the loop of all other bodies.
func (w *body[A, B]) each(in []edge.Cell[A], out *engine.Out[B]) (int, error) {
	w.begin(out)
	for i := range in {
		c := &in[i]
		if c.Skipped() {
			pass(c, out)
			continue
		}
		out.Cur = i
		w.call.at(&c.Tag)
		if err := w.tries(c, out); err != nil {
			if !w.skip || !w.s.skipsFor(err) {
				return i, err
			}
			w.skipOne(c, err, out)
		}
		if out.Hurry() {
			return i + 1, nil
		}
	}
	return len(in), nil
}

// try works on one input; where failing items are skipped or tried again, a panic is such a failure.
func (w *body[A, B]) try(c *edge.Cell[A], out *engine.Out[B]) error {
	if w.timed != nil {
		return w.timed.try(c, out)
	}
	if !w.careful {
		return w.one(c, out)
	}
	return engine.Safely(func() error { return w.one(c, out) })
}

// tries works on one input, and again while its error is temporary and attempts are left.
func (w *body[A, B]) tries(c *edge.Cell[A], out *engine.Out[B]) error {
	for w.attempt = 1; ; w.attempt++ {
		w.emitted = 0
		err := w.try(c, out)
		if err == nil || w.attempt >= w.attempts || !isTemporary(err) || w.emitted > 0 {
			return err
		}
		w.s.m.Retried.Add(1)
		if !w.run.Pause(w.backoff(&c.Tag)) {
			return err
		}
	}
}

// backoff is the pause before the next attempt: it doubles each time, and up to half of it is taken off by chance, so
// that workers which failed together do not come back together.
func (w *body[A, B]) backoff(t *edge.Tag) time.Duration {
	d := w.s.n.opts.backoff << min(w.attempt-1, 16)
	r := newRand(w.call.key^uint64(w.attempt), posOf(t))
	return d - time.Duration(r.Float64()*float64(d)/2)
}

// skipOne leaves a mark in an item's place.
func (w *body[A, B]) skipOne(c *edge.Cell[A], err error, out *engine.Out[B]) {
	key := failedKey(w.hin, c, err)
	at := w.s.charge(err, &c.Tag, skippedItems)
	at.skipped(SkipNote{Key: key, Pos: posOf(&c.Tag), Attempt: w.attempt}, err)
	tag := c.Tag
	tag.Ext = edge.NewExt()
	tag.Ext.Key, tag.Ext.Err = key, err
	if c.Ext != nil {
		tag.Ext.Child, tag.Ext.Of = c.Ext.Child, c.Ext.Of
	}
	tag.Flags |= edge.Skipped | edge.NewMark
	w.hin.dropQuietly(c)
	var none B
	out.Put(none, &tag)
	out.Skips++
}

func (w *body[A, B]) mapOne(c *edge.Cell[A], out *engine.Out[B]) error {
	v, err := w.fn(w.call, c.V)
	if err != nil {
		return err
	}
	out.Put(v, &c.Tag)
	out.Done++
	if w.absorbed != nil {
		w.absorbed.passed(int64(c.Epoch))
	}
	return nil
}

func (w *body[A, B]) chooseOne(c *edge.Cell[A], out *engine.Out[B]) error {
	v, keep, err := w.choose(w.call, c.V)
	switch {
	case err != nil:
		return err
	case keep:
		out.Put(v, &c.Tag)
		out.Done++
	default:
		w.filtered(c, out)
	}
	return nil
}

// filtered ends an input that is left out.
func (w *body[A, B]) filtered(c *edge.Cell[A], out *engine.Out[B]) {
	out.Passed(&c.Tag)
	w.water.done(&c.Tag)
	c.End()
	out.Filtered++
}

// emitting makes the emit function that the worker's flat-map gets, once.
func (w *body[A, B]) emitting(f func(*Call, A, func(B)) error) {
	w.emit = f
	w.emitFn = func(v B) {
		if !w.out.Stream() {
			w.release(v)
			return
		}
		t := w.tag
		t.Ext = w.childExt()
		w.emitted++
		if w.seen != nil && w.seen(&t, t.Ext.Child) {
			t.End()
			w.release(v)
			return
		}
		w.water.more(&t)
		w.out.Put(v, &t)
		w.put++
	}
}

// childExt is the Ext of the next output: its path, and a share in the bytes that the input holds.
func (w *body[A, B]) childExt() *edge.Ext {
	x := edge.NewExt()
	if p := w.tag.Ext; p != nil {
		x.Child, x.Hold, x.Of = p.Child, p.Hold, p.Of
		if x.Hold != nil {
			x.Hold.Users.Add(1)
		}
	}
	x.Child = item.Pos{Child: x.Child}.Down(w.emitted).Child
	return x
}

func (w *body[A, B]) emitOne(c *edge.Cell[A], out *engine.Out[B]) error {
	w.out, w.emitted, w.put, w.tag = out, 0, 0, c.Tag
	if err := w.emit(w.call, c.V, w.emitFn); err != nil {
		return err // what was emitted before stays: whether it was handed over already depends on the buffer
	}
	return w.emittedAll(c, out)
}

// emittedAll ends an input whose outputs have all been put.
func (w *body[A, B]) emittedAll(c *edge.Cell[A], out *engine.Out[B]) error {
	w.tag.Ext = nil
	if w.put == 0 {
		out.Passed(&c.Tag)
		out.Filtered++
	} else {
		out.Done++
	}
	w.water.done(&c.Tag)
	c.End()
	return nil
}

// Keyed names the item that an error is about, where the item itself cannot: a source that failed to read it.
func Keyed(key string, err error) error { return &keyed{key, err} }

type keyed struct {
	key string
	err error
}

func (k *keyed) Error() string { return k.err.Error() }
func (k *keyed) Unwrap() error { return k.err }

func keyIn(err error) string {
	var k *keyed
	if errors.As(err, &k) {
		return k.key
	}
	return ""
}

func (w *body[A, B]) release(v B) {
	if w.hout.release != nil {
		w.hout.release(v)
	}
}
