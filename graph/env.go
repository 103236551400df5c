package graph

import (
	"time"

	"github.com/penstock-go/penstock/graph/internal/engine"
	"github.com/penstock-go/penstock/graph/internal/meter"
	"github.com/penstock-go/penstock/graph/internal/pool"
	"github.com/penstock-go/penstock/graph/item"
)

// Env is what the engine gives a part when it opens it.
type Env struct {
	Pipeline string
	Stage    string
	Seed     uint64
	Workers  int // of this stage; for auto, the most it may get
	Epochs   int // or [Forever]
	Memory   item.Memory
	Sync     bool // one goroutine runs everything, see [Sync]
	Digest   bool // samples are hashed: a source of batches sets the hashes of its rows

	degraded func(string)
	within   string
	reserve  func(int64) bool
	eng      *engine.Run // nil outside of a run, and so is meter
	meter    *meter.Stage
	warn     func(string)
	supply   func() Slabs
	slabs    *pool.Slabs
	below    []any
	launched func(took, late time.Duration)
	fail     func(error)
	shared   func(string, func() (any, func() error, error)) (any, error)
}

// Go starts a goroutine that the run waits for. f must end when the context given to Open ends.
func (e *Env) Go(f func()) { e.eng.Work(e.meter, f) }

// Reserve takes bytes off the memory budget for as long as the run lasts, for what a stage keeps. It refuses where all
// that is kept would leave less than half of the budget to samples.
func (e *Env) Reserve(bytes int64) bool { return e.reserve == nil || e.reserve(bytes) }

// Warn puts a line into the report's warnings: something was given up, left out or cannot help.
func (e *Env) Warn(line string) {
	if e.warn != nil {
		e.warn(line)
	}
}
