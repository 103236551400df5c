package graph

import (
	"context"

	"github.com/penstock-go/penstock/graph/item"
)

// Source declares where items come from. Declaring is only data: nothing is opened until a pipeline starts.
type Source[T any] interface {
	// Open makes the running source. It may read a listing; it must not start goroutines (see [Env.Go]).
	Open(ctx context.Context, env *Env) (Reader[T], error)
}

// Reader is a running source. A map-style source sets Len and At, an iterable one Splits and Read.
type Reader[T any] struct {
	// Len is the number of items of a map-style source; their indices are 0 to Len-1.
	Len int64
	// At reads the item of an index. It is called by many workers at once, in the order of the sampler.
	At func(c *Call, index int64) (T, error)
	// Label, if set, tells the class of an index, from 0, without reading it; -1 is none. Samplers go by it.
	Label func(index int64) int64

	// Splits is the number of parts in which an iterable can be read forward. It is a property of the data.
	Splits int
	// Read emits the records of a split from record number from on. emit blocks while downstream is behind and
	// returns an error when the run is over; Read then returns it.
	Read func(c *Call, split int, from int64, emit func(T) error) error
	// Interleave is how many splits of an iterable are read in turn; 0 means 8.
	Interleave int

	// Fingerprint, if set, tells one set of data from another of the same length, for [Resume].
	Fingerprint string

	// NewWorker, if set, makes the functions of one worker, which has resources of its own.
	NewWorker func(ctx context.Context) (Reader[T], error)
	// Close, if set, frees what Open (or NewWorker) took. It is called once, after the last call has returned.
	Close func() error
}

// Stage declares one step. The config struct of a kind is its Stage.
type Stage[A, B any] interface {
	Open(ctx context.Context, env *Env) (Transform[A, B], error)
}

// Transform is a running stage: exactly one of Map, Choose, Emit, Group, Block and Cache is set. Its functions are called by all
// workers of the stage at once. They own the input: they return it, store it in the output, or release it. When they
// return an error the input stays with the engine, which names it and releases it.
type Transform[A, B any] struct {
	// Map makes one output of each input.
	Map func(c *Call, in A) (B, error)
	// Choose makes one output of each input, or none: the input is then filtered.
	Choose func(c *Call, in A) (out B, keep bool, err error)
	// Emit makes any number of outputs, a flat-map. All stay at the input's place, in the order of emission.
	Emit func(c *Call, in A, emit func(B)) error
	// Group collects inputs into batches.
	Group *Group[A, B]
	// Cache keeps what each index of the source made. The declaration is a [Cacher].
	Cache *Cache[B]
	// Block hands the inputs themselves on, in another order.
	Block *Block

	// NewWorker, if set, makes the functions of one worker, which has resources of its own: a database handle,
	// scratch memory. The engine calls it when the worker starts and closes what it made.
	NewWorker func(ctx context.Context) (Transform[A, B], error)
	// Slabs, if set, is where the nearest group above takes the memory of its outputs from.
	Slabs Slabs
	// Keep, if set, is told that the consumer holds n more outputs beyond their iteration (below 0: fewer): they are
	// not coming back soon.
	Keep func(n int)
	// Devices, if set, reads the numbers of the device that the stage works with.
	Devices func() DeviceStats
	// Close, if set, frees what Open (or NewWorker) took.
	Close func() error
}

// Group is the running part of a stage that collects Size inputs of one epoch into one output. (Group, row) pairs are
// given out in input order under one lock; rows are filled by all workers at once; the worker that fills the last row
// hands the output on. Only the last group of an epoch may be short.
type Group[A, B any] struct {
	Size     int
	DropLast bool // leave out a short last group; its inputs are counted as dropped
	// First sees the first input of the run before any output is made, under the lock: the place to fix a layout.
	First func(in A) error
	// Slab makes an output with room for Size inputs. Slabs are recycled: it is called only while the ring grows.
	Slab func() (B, error)
	// Row puts an input into a row; it releases in. Rows of one slab are filled by several workers at once.
	Row func(c *Call, out B, row int, in A) error
	// Place, if set, finds the memory of a field in a row, before the row is filled; nil if it has another layout. Row
	// then finds the input's data there already.
	Place func(out B, row int, field string, d item.DType, s item.Shape) []byte
	// Fill copies row from to row to, for a sample that was skipped.
	Fill func(out B, to, from int)
	// Undo, if set, gives up what a filled row holds, when its group is not handed on.
	Undo func(out B, row int)
	// Done ends a group of n rows and gives what is handed on. meta tells the rows' keys, positions and hashes; it is
	// valid until free, which must be called once, when the output may be filled again.
	Done func(out B, n int, number int64, meta []item.Row, free func()) B
	// Fresh makes a new output each time instead of recycling; Done then calls free itself.
	Fresh bool
	// Keeps says that the inputs themselves live on in the output: what they take of the byte budget is given back when
	// the output is released, not when their row is filled.
	Keeps bool
}

// Block is the running part of a stage that hands items on in another order: it gathers Size consecutive ones of one
// epoch, the last time in an epoch fewer, and gives them out permuted. Items keep their positions. One goroutine does it,
// whatever the workers. The declaration tells Size by a method Holds as well, for the byte budget.
type Block struct {
	Size int
	// Order gives the order of a block, counted from 0 in each epoch, of n items: output i is item order(i) of the block.
	// It must depend on nothing else.
	Order func(epoch, number int64, n int) (order func(i int) int)
}

// Sink declares where items end.
type Sink[T any] interface {
	Open(ctx context.Context, env *Env) (Consumer[T], error)
}

// Consumer is a running sink. Take is called by one goroutine, in order. The engine releases the item afterwards.
type Consumer[T any] struct {
	Take  func(c *Call, in T) error
	Close func() error
}

// Load says what a stage's workers spend their time on.
type Load string

// The loads: computing, or waiting for something that is not this machine's processor.
const (
	CPU  Load = "cpu"
	Wait Load = "wait"
)

// What follows are optional methods of declarations. Build finds each once.
type (
	// Loader tells the load; without it a stage is CPU.
	Loader interface{ Load() Load }
	// Checker refuses a declaration whose settings are out of range. All such errors are reported at once by Build.
	Checker interface{ Check() error }
	// Shaper tells the schema of the output from that of the input, or what the input lacks (see
	// [item.Schema.Needs]). A source gets the zero Schema. Without it the output's schema is open.
	Shaper interface {
		Schema(in item.Schema) (item.Schema, error)
	}
	// Peaker estimates the largest number of bytes an item takes on its way through the stage, its input included,
	// from the item as it left the source. 0 is unknown.
	Peaker[T any] interface{ Peak(in T) int64 }
	// Randomizer marks a stage whose output depends on [Call.Rand].
	Randomizer interface{ Random() bool }
	// Kinder names the kind. Without it the kind is the type's name in lower_snake_case.
	Kinder interface{ Kind() string }
	// Streamer tells what of a declaration decides on the stream, for [Resume], where not all of it does: paths do not
	// where a fingerprint tells what lies there, so that data may move between two runs. Samplers may have it too.
	Streamer interface{ Stream() string }
	// Cacher marks a stage whose running part is a [Cache], and tells how many bytes it may hold.
	Cacher interface{ CacheLimit() int64 }
	// Emulator marks a part that models hardware which is not there; reports then say emulated.
	Emulator interface{ Emulated() bool }
)

// What follows are optional methods of items. They are looked up once per edge, never per item.
type (
	// Keyer names an item in messages; without it the name is "#index".
	Keyer interface{ Key() string }
	// Sizer tells the bytes an item holds, for the byte budget.
	Sizer interface{ Bytes() int64 }
	// Releaser takes an item back when it has been used or dropped.
	Releaser interface{ Release() }
	// Hasher makes the item part of the digest.
	Hasher interface{ Hash() uint64 }
)
