package graph

import (
	"fmt"
	"sync"

	"github.com/penstock-go/penstock/graph/internal/host"
)

// scarceFrom is how full the container's memory may become before the admission of items is slowed, of 100. The garbage
// collector of the runner works against 90.
const scarceFrom = 95

// MemoryUse gives the run another measure of the memory that is left than the container's: how many bytes of how many
// are used, by whomever. It is asked where items are admitted, at most ten times a second, from any worker. From 95 of
// 100 on items are let in one by one, and the report says for how long. Without budget.memory, half the limit is the
// budget.
func MemoryUse(use func() (used, limit int64)) PipelineOption {
	return func(p *Pipeline) { p.memoryUse = use }
}

// watchMemory slows the admission while the container's memory is nearly used up, by whomever: the kernel ends a process
// that goes beyond.
func (r *Run) watchMemory() {
	use := r.p.memoryUse
	if use == nil {
		use = r.p.owner().memoryUse
	}
	if use == nil {
		use = host.MemoryUse()
	}
	if use == nil {
		return
	}
	var once sync.Once
	r.bytes.admit.Watch(func() bool {
		used, limit := use()
		if used < limit/100*scarceFrom {
			return false
		}
		once.Do(func() {
			r.degraded("", fmt.Sprintf("the container has used %s of its %s of memory: items are let in one by one while that is so, which costs speed; "+
				"lower budget.memory or give the container more", SizeText(used), SizeText(limit)))
		})
		return true
	})
}
