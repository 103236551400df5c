package shard

import "fmt"

// Uneven says what becomes of places that do not divide by the number of ranks.
type Uneven int

// The ways. Pad repeats the first places until all ranks have equally many, Drop leaves the last ones out, Keep lets
// some ranks have one more than the others.
const (
	Pad Uneven = iota
	Drop
	Keep
)

// World is one process of a job: rank Rank of World ranks. The zero value is that of a job of one. It is a value; its
// methods may be called from any goroutine and cost some divisions.
//
// Places are numbered over the whole job, and rank r takes those that are r above a multiple of World: so batch k of the
// job lies in one piece, and a job with another number of ranks takes the same places in the same order.
type World struct{ Rank, World int }

// MaxWorld bounds the ranks of a job.
const MaxWorld = 1 << 20

// Check refuses a rank outside its world.
func (w World) Check() error {
	switch {
	case w == World{}:
		return nil
	case w.World < 1 || w.World > MaxWorld:
		return fmt.Errorf("world must be from 1 to %d, got %d", MaxWorld, w.World)
	case w.Rank < 0 || w.Rank >= w.World:
		return fmt.Errorf("rank must be from 0 to %d in a world of %d, got %d", w.World-1, w.World, w.Rank)
	}
	return nil
}

// Size is the number of ranks, at least 1.
func (w World) Size() int64 { return int64(max(1, w.World)) }

// Place is the rank's place number j, from 0.
func (w World) Place(j int64) int64 { return int64(w.Rank) + j*w.Size() }

// Number is how many of the rank's places lie before a place: the inverse of Place, rounded up.
func (w World) Number(place int64) int64 { return max(0, (place-int64(w.Rank)+w.Size()-1)/w.Size()) }

// Count is how many of n places the rank takes.
func (w World) Count(n int64, u Uneven) int64 {
	switch u {
	case Pad:
		return (n + w.Size() - 1) / w.Size()
	case Drop:
		return n / w.Size()
	}
	return w.Number(n)
}

// Padded is how many of the places that the rank takes of n are repeated ones: 0 or 1.
func (w World) Padded(n int64) int64 { return w.Count(n, Pad) - w.Number(n) }

// Dropped is how many of the rank's own places among n it leaves out under Drop: 0 or 1.
func (w World) Dropped(n int64) int64 { return w.Number(n) - w.Count(n, Drop) }

// Steps is how many batches of a size the rank makes of n places; short says that a last one may be short.
func (w World) Steps(n, size int64, u Uneven, short bool) int64 {
	if count := w.Count(n, u); short {
		return (count + size - 1) / size
	} else {
		return count / size
	}
}

// Next is the first place of the job that no rank has taken after so many steps of a size.
func (w World) Next(steps, size int64) int64 { return steps * size * w.Size() }

// Shares says that n splits are too few for each rank to have one: then each reads all of them and keeps those records
// whose number in the job's stream is one of its places.
func (w World) Shares(n int64) bool { return n < w.Size() }

// Keeps says whether a record of splits that all ranks read is the rank's own.
func (w World) Keeps(number int64) bool { return number%w.Size() == int64(w.Rank) }
