package graph

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/engine"
)

// grace is how long a call whose time is up is waited for before it is abandoned: as long again, within these bounds.
const (
	minGrace = 10 * time.Millisecond
	maxGrace = 5 * time.Second
)

// outcome is what a timed call came to.
type outcome[B any] struct {
	outs []B
	keep bool // of a Choose
	err  error
}

// timed runs calls of one worker with a time limit, each in a goroutine of its own, so that one that never returns can
// be left behind. What a call makes is taken over only when it returns in time.
type timed[A, B any] struct {
	w     *body[A, B]
	t     Transform[A, B]
	renew func() (Transform[A, B], error) // makes another worker's functions, where each has its own
	limit time.Duration
}

// try makes one call.
func (x *timed[A, B]) try(c *edge.Cell[A], out *engine.Out[B]) error {
	ctx, cancel := context.WithTimeout(x.w.run.Context(), x.limit)
	defer cancel()
	call := *x.w.call
	call.ctx, call.slot, call.tag = ctx, nil, &edge.Tag{}
	*call.tag = c.Tag
	call.tag.Trail = nil
	done := make(chan outcome[B], 1)
	late := &lateCall[A, B]{w: x.w, in: c.V, ext: c.Ext, closing: x.t.Close}
	t, in, key := x.t, c.V, x.w.hin.keyOf(c)
	x.w.run.Loose(func() { late.end(done, x.call(t, &call, in)) })
	select {
	case o := <-done:
		return x.take(c, o, out)
	case <-ctx.Done():
	}
	if x.w.run.Cancelled() == nil {
		x.w.s.m.Overdue.Add(1)
	}
	grace := time.NewTimer(min(max(x.limit, minGrace), maxGrace))
	defer grace.Stop()
	failure := fmt.Errorf("%w after %v (attempt %d)", ErrTimeout, x.limit, x.w.attempt)
	select {
	case o := <-done:
		for _, v := range o.outs {
			x.w.release(v)
		}
		err := x.w.run.Cancelled()
		switch {
		case o.err == nil && err != nil: // the call has used its input up all the same
			return x.gone(c, key, err)
		case o.err == nil:
			return x.gone(c, key, failure)
		case err != nil:
			return err
		}
		return Temporary(failure)
	case <-grace.C:
	}
	return x.abandon(c, key, late, failure)
}

// gone makes the error of an item whose input has been used up, or is still being used: the engine must not touch it.
func (x *timed[A, B]) gone(c *edge.Cell[A], key string, err error) error {
	var none A
	c.V = none
	c.Flags |= edge.Skipped
	return Keyed(key, &final{err})
}

// call runs the function behind a panic barrier and collects what it makes.
func (x *timed[A, B]) call(t Transform[A, B], call *Call, in A) (o outcome[B]) {
	o.keep = true
	o.err = engine.Safely(func() (err error) {
		var v B
		switch {
		case t.Map != nil:
			v, err = t.Map(call, in)
		case t.Choose != nil:
			v, o.keep, err = t.Choose(call, in)
		default:
			return t.Emit(call, in, func(v B) { o.outs = append(o.outs, v) })
		}
		if err == nil && o.keep {
			o.outs = append(o.outs, v)
		}
		return err
	})
	return o
}

// take hands on what came in time.
func (x *timed[A, B]) take(c *edge.Cell[A], o outcome[B], out *engine.Out[B]) error {
	if o.err != nil {
		return o.err
	}
	if x.t.Emit != nil {
		w := x.w
		w.out, w.tag, w.emitted, w.put = out, c.Tag, 0, 0
		for _, v := range o.outs {
			w.emitFn(v)
		}
		return w.emittedAll(c, out)
	}
	if !o.keep {
		x.w.filtered(c, out)
		return nil
	}
	out.Put(o.outs[0], &c.Tag)
	out.Done++
	return nil
}

// abandon leaves a call behind that ignores its context. It keeps its input and its memory until it returns, if ever.
func (x *timed[A, B]) abandon(c *edge.Cell[A], key string, late *lateCall[A, B], failure error) error {
	var of *[]edge.Place
	if c.Ext != nil {
		of = c.Ext.Of
	}
	if !late.abandon() { // it has returned just now, and is done with its input
		return x.gone(c, key, failure)
	}
	s := x.w.s
	if c.Ext = nil; of != nil {
		c.Ext = edge.NewExt()
		c.Ext.Of = of
	}
	n := s.m.Abandoned.Add(1)
	s.run.warn(fmt.Sprintf("stage %q: the call for %s ignored its context for %v after its timeout and was left behind; its memory is not used again", s.n.id, key, min(max(x.limit, minGrace), maxGrace)))
	if hands := max(s.workers, s.hands()); n > int64(hands) { // a tuner may have taken some of them away
		failure = fmt.Errorf("%w; %d calls were left behind, more than the stage has workers (%d)", failure, n, hands)
		x.w.run.End(&StageError{Pipeline: s.n.p.name, Stage: s.n.id, Key: key, Pos: posOf(&c.Tag), Op: "process", Err: failure})
		return x.gone(c, key, failure)
	}
	if x.w.owns {
		t, err := x.renew()
		if err != nil {
			return x.gone(c, key, err)
		}
		x.t = t
	}
	return x.gone(c, key, failure) // not tried again: the first call may still be at it
}

// final marks an error that no further attempt can mend.
type final struct{ err error }

func (f *final) Error() string   { return f.err.Error() }
func (f *final) Unwrap() error   { return f.err }
func (f *final) Temporary() bool { return false }

// lateCall settles who cleans up after a call: the worker, or the call itself when it has been abandoned.
type lateCall[A, B any] struct {
	w       *body[A, B]
	in      A
	ext     *edge.Ext
	closing func() error

	mu        sync.Mutex
	returned  bool
	abandoned bool
}

// end is called when the call returns.
func (l *lateCall[A, B]) end(done chan<- outcome[B], o outcome[B]) {
	l.mu.Lock()
	l.returned = true
	abandoned := l.abandoned
	l.mu.Unlock()
	if !abandoned {
		done <- o
		return
	}
	for _, v := range o.outs {
		l.w.release(v)
	}
	c := edge.Cell[A]{V: l.in, Tag: edge.Tag{Ext: l.ext}}
	if o.err != nil {
		l.w.hin.dropQuietly(&c)
	} else {
		c.End()
	}
	if l.closing != nil && l.w.owns {
		_ = engine.Safely(l.closing)
	}
}

// abandon says whether the call is still at work, and leaves it to itself then.
func (l *lateCall[A, B]) abandon() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.abandoned = !l.returned
	return l.abandoned
}
