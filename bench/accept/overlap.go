package main

import (
	"errors"
	"time"

	"github.com/penstock-go/penstock/cuda"
)

// batches is how many a round of overlap carries.
const batches = 16

// overlap is how copies and work share the time, for each batch: Copy and Compute alone, one after the other on one
// stream, and on two streams with two slots. Hidden is the share of the shorter one that the two slots save.
type overlap struct {
	Bytes   int     `json:"bytes"`
	Ratio   float64 `json:"compute_per_copy"` // asked for
	Copy    float64 `json:"copy_seconds"`
	Compute float64 `json:"compute_seconds"`
	InTurn  float64 `json:"in_turn_seconds"`
	Slots   float64 `json:"two_slots_seconds"`
	Hidden  float64 `json:"hidden"`
}

// track is two slots on the device, their batches on the host, and the streams that copy and that compute.
type track struct {
	at          [2]cuda.Ptr
	host        [2][]byte
	ready, free [2]cuda.Event
	begin, end  cuda.Event
	copies      cuda.Stream
	work        cuda.Stream
}

func newTrack(b *bench, n int) (t track) {
	for i := range 2 {
		t.at[i], t.host[i] = b.alloc(n), b.locked(n)
		t.ready[i], t.free[i] = b.event(), b.event()
	}
	t.begin, t.end = b.event(), b.event()
	t.copies, t.work = b.stream(), b.stream()
	return t
}

func overlaps(d cuda.Device, n int, ratio float64, rounds int, a *arrivalCounts) (o overlap, err error) {
	b := bench{d: d}
	defer func() { err = errors.Join(err, b.close()) }()
	t := newTrack(&b, n)
	if b.err != nil {
		return o, b.err
	}
	o.Bytes, o.Ratio = n, ratio
	for i := range 2 {
		fill(t.host[i], uint64(i+3))
	}
	if o.Copy, err = t.steady(rounds, t.copy); err != nil {
		return o, err
	}
	spin := time.Duration(ratio * o.Copy * 1e9)
	compute := func(int) error { return t.work.Spin(spin) }
	if o.Compute, err = t.steady(rounds, compute); err != nil {
		return o, err
	}
	if o.InTurn, err = t.steady(rounds, func(i int) error { return errors.Join(t.copy(i), compute(i)) }); err != nil {
		return o, err
	}
	if o.Slots, err = t.steady(rounds, func(i int) error { return t.slots(i, spin) }); err != nil {
		return o, err
	}
	o.Hidden = (o.InTurn - o.Slots) / min(o.Copy, o.Compute)
	for i := range 2 {
		got := make([]byte, n)
		if err := errors.Join(t.work.CopyOut(got, t.at[i]), t.work.Sync()); err != nil {
			return o, err
		}
		a.look(t.host[i], got)
	}
	return o, nil
}

// steady is what a batch takes on the work's stream, by its events, once the first batch is over: the median of rounds.
func (t *track) steady(rounds int, batch func(i int) error) (float64, error) {
	times := make([]float64, rounds)
	for r := range times {
		err := errors.Join(batch(0), t.work.Record(t.begin))
		for i := 1; i <= batches && err == nil; i++ {
			err = batch(i)
		}
		err = errors.Join(err, t.work.Record(t.end), t.work.Sync(), t.copies.Sync())
		if err != nil {
			return 0, err
		}
		took, err := t.end.Since(t.begin)
		if err != nil {
			return 0, err
		}
		times[r] = took.Seconds() / batches
	}
	return median(times), nil
}

func (t *track) copy(i int) error { return t.work.CopyIn(t.at[i%2], t.host[i%2]) }

// slots copies a batch on the stream of copies, when its slot is free, and works on it when it is there.
func (t *track) slots(i int, spin time.Duration) error {
	k := i % 2
	return errors.Join(t.copies.Wait(t.free[k]), t.copies.CopyIn(t.at[k], t.host[k]), t.copies.Record(t.ready[k]),
		t.work.Wait(t.ready[k]), t.work.Spin(spin), t.work.Record(t.free[k]))
}
