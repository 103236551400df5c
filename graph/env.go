package graph

import (
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

	degraded func(string)
	within   string
	reserve  func(int64) bool
	start    func(func())
	warn     func(string)
}

// Go starts a goroutine that the run waits for. f must end when the context given to Open ends.
func (e *Env) Go(f func()) { e.start(f) }

// Slab takes n bytes for a batch, zeroed. Large slabs ask for huge pages. They belong to the garbage collector.
func (e *Env) Slab(n int) []byte {
	if pool.HugeOff(n) {
		e.Degraded("no huge pages (/sys/kernel/mm/transparent_hugepage/enabled is never): the first use of each batch's memory takes up to 14 microseconds for each 4 KiB")
	}
	return pool.Slab(n)
}

// Reserve takes bytes off the memory budget for as long as the run lasts, for what a stage keeps. It refuses where all
// that is kept would leave less than half of the budget to samples.
func (e *Env) Reserve(bytes int64) bool { return e.reserve == nil || e.reserve(bytes) }

// Warn puts a line into the report's warnings: something was given up, left out or cannot help.
func (e *Env) Warn(line string) {
	if e.warn != nil {
		e.warn(line)
	}
}
