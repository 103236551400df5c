package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/penstock-go/penstock/graph"
)

// defaultEvery is how many deliveries lie between two states where --every does not say.
const defaultEvery = 100

var errNoState = errors.New("--state")

// stateKeeper writes the state of a run to a file, from the goroutine that takes the deliveries: there it is exact.
type stateKeeper struct {
	file  string
	every int64
	err   io.Writer

	mu    sync.Mutex
	run   *graph.Run // nil: not started yet
	saved int64      // deliveries at the last state
	fault bool       // the last one could not be written
}

// attach makes the run known. Deliveries that came before count for the next state. A run that has no state is an error.
func (k *stateKeeper) attach(run *graph.Run) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s, err := run.State()
	if err != nil {
		return fmt.Errorf("%w: %w", errNoState, err)
	}
	if s.Inexact {
		fmt.Fprintln(k.err, "penstock: states of this run are inexact, for a stage has order: completion: --resume loses nothing and repeats what was delivered out of order")
	}
	k.run = run
	return nil
}

// delivered is told of each delivery. The next one waits until a state that is due is on the disk, so that never more
// than every deliveries can be lost.
func (k *stateKeeper) delivered(n int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.run == nil || n-k.saved < k.every {
		return
	}
	err := k.save()
	switch {
	case err != nil && !k.fault:
		fmt.Fprintf(k.err, "penstock: %v; the run goes on, and the next state will be tried in %d deliveries\n", err, k.every)
	case err == nil && k.fault:
		fmt.Fprintf(k.err, "penstock: the state could be written again, after delivery %d\n", n)
	}
	k.fault, k.saved = err != nil, n
}

func (k *stateKeeper) save() error {
	s, err := k.run.State()
	if err == nil {
		err = s.Save(k.file)
	}
	return err
}

// end writes the last state, after the run.
func (k *stateKeeper) end() error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.run == nil {
		return nil
	}
	return k.save()
}

// keepState sets a pipeline up to write its state, and to go on from one.
func (a *app) keepState(p *graph.Pipeline, o *runOptions) (*stateKeeper, error) {
	if o.state == "" {
		return nil, nil
	}
	s, err := graph.LoadState(o.state)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if o.resume {
			fmt.Fprintf(a.err, "penstock: there is no state %q yet: starting at the beginning\n", o.state)
		}
	case err != nil: // also without --resume: a file that is no state must not be written over
		return nil, err
	case o.resume:
		p.With(graph.Resume(s, o.force))
		fmt.Fprintf(a.err, "penstock: going on after batch %d of epoch %d, from %q%s\n", s.Batches, s.Epoch, o.state, inexact(&s))
	default:
		fmt.Fprintf(a.err, "penstock: %q holds the state of another run (epoch %d, batch %d): it will be replaced; --resume goes on from it\n",
			o.state, s.Epoch, s.Batches)
	}
	k := &stateKeeper{file: o.state, every: int64(o.every), err: a.err}
	p.With(graph.OnDelivery(k.delivered))
	return k, nil
}

// inexact says what an inexact state repeats.
func inexact(s *graph.State) string {
	if !s.Inexact {
		return ""
	}
	return fmt.Sprintf("; the state is inexact: places of the sources that come again although they were done with: %d", s.Repeats())
}
