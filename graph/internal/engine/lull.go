package engine

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// Lull keeps the garbage collector away until the first delivery, where the process has just begun. Its heap is small
// then, so the first files and each of the first slabs would begin a collection, for which whoever makes the slab pays at
// once: a tenth of the time to the first batch (decision 29). aside sets memory aside for the first slabs: nobody has
// touched it yet, so it takes none, but the heap counts as large with it. drop lets it go if no slab was taken from it, and
// says so. Programs that limit their memory, or have set how often it is collected, are left alone.
func (r *Run) Lull(aside func(), drop func() bool) {
	var gc debug.GCStats
	if debug.ReadGCStats(&gc); r.begun != nil || gc.NumGC > 0 || debug.SetMemoryLimit(-1) < math.MaxInt64 {
		return // once memory was collected, that which is set aside could be some that had been touched
	}
	if set := os.Getenv("GOGC"); set != "" && set != "100" {
		return
	}
	aside()
	r.begun = sync.OnceFunc(func() {
		if drop() {
			go runtime.GC() // the heap may not grow any further unlooked at
		}
	})
	r.OnEnd(r.begun)
}
