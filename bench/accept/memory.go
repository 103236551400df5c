package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"slices"
	"time"

	"github.com/penstock-go/penstock/cuda"
)

// smallest is the first size of the copies; each further one is four times as large.
const smallest = 64 << 10

// lockCost is what locking a piece of memory costs, its pages found on the way, as at the start of a run.
type lockCost struct {
	Bytes  int     `json:"bytes"`
	Lock   float64 `json:"lock_seconds"`
	Unlock float64 `json:"unlock_seconds"`
}

// rate is how fast copies of a size go.
type rate struct {
	Bytes      int     `json:"bytes"`
	Pageable   float64 `json:"pageable"`
	Registered float64 `json:"registered"`
}

// arrivalCounts are copies that were read back.
type arrivalCounts struct {
	Checked int `json:"checked"`
	Same    int `json:"same"`
}

func (a *arrivalCounts) look(sent, got []byte) {
	a.Checked++
	if sum(sent) == sum(got) {
		a.Same++
	}
}

func sum(b []byte) uint64 { return crc64.Checksum(b, crc64.MakeTable(crc64.ECMA)) }

// fill writes numbers that differ all over the piece and from one seed to the next.
func fill(b []byte, seed uint64) {
	for i := 0; i+8 <= len(b); i += 8 {
		x := (uint64(i) + seed<<32 + 1) * 0x9e3779b97f4a7c15
		binary.LittleEndian.PutUint64(b[i:], x^x>>29)
	}
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

func perGiB(seconds float64, n int) float64 { return seconds / float64(n) * (1 << 30) }

// lock locks fresh memory in each round: pages that were there before would be found already.
func lock(d cuda.Device, n, rounds int) (lockCost, error) {
	var locks, unlocks []float64
	for range min(rounds, 3) {
		b, err := d.Map(n)
		if err != nil {
			return lockCost{}, err
		}
		start := time.Now()
		if err := d.Lock(b); err != nil {
			return lockCost{}, errors.Join(fmt.Errorf("lock %d bytes (ulimit -l, the container's memory?): %w", n, err), d.Unmap(b))
		}
		locked := time.Now()
		err = d.Unlock(b)
		locks, unlocks = append(locks, locked.Sub(start).Seconds()), append(unlocks, time.Since(locked).Seconds())
		if err := errors.Join(err, d.Unmap(b)); err != nil {
			return lockCost{}, err
		}
	}
	return lockCost{n, median(locks), median(unlocks)}, nil
}

// rates copies a piece from pageable memory and from registered, and looks at what arrived of each.
func rates(d cuda.Device, n, rounds int, a *arrivalCounts) (r rate, err error) {
	b := bench{d: d}
	defer func() { err = errors.Join(err, b.close()) }()
	at, host := b.alloc(n), b.locked(n)
	s := b.stream()
	if b.err != nil {
		return r, b.err
	}
	r.Bytes = n
	for _, from := range []struct {
		src  []byte
		rate *float64
		seed uint64
	}{{make([]byte, n), &r.Pageable, 1}, {host, &r.Registered, 2}} {
		fill(from.src, from.seed)
		if err := copyIn(s, at, from.src, 1); err != nil { // the first meets what was never used
			return r, err
		}
		times := make([]float64, rounds)
		again := max(1, min(64, (16<<20)/n)) // small copies are timed many at once
		for i := range times {
			start := time.Now()
			if err := copyIn(s, at, from.src, again); err != nil {
				return r, err
			}
			times[i] = time.Since(start).Seconds()
		}
		*from.rate = float64(n*again) / median(times)
		got := make([]byte, n)
		if err := errors.Join(s.CopyOut(got, at), s.Sync()); err != nil {
			return r, err
		}
		a.look(from.src, got)
	}
	return r, nil
}

func copyIn(s cuda.Stream, at cuda.Ptr, src []byte, times int) error {
	for range times {
		if err := s.CopyIn(at, src); err != nil {
			return err
		}
	}
	return s.Sync()
}
