package edge

// room is the capacity of the ring now.
func (e *Edge[T]) room() int {
	if e.cfg.Buffer > 0 {
		return e.cfg.Buffer
	}
	if e.cfg.Slabs {
		return max(2*e.cfg.Producers, e.wide, e.cfg.Least, e.deep)
	}
	return max(min(2*e.cfg.Producers, crowd), 4*e.kp, e.cfg.Least, e.deep)
}

// crowd is how many items a buffer has room for, for the sake of many workers alone, and farthest how many of their slices may
// be finished ahead, unless one of each is more: a thousand workers that are quicker than what follows would fill both, with
// more than the processor's caches hold (decision 30).
const (
	crowd    = 512
	farthest = 2048
)

// Leeway is how many slices of each producer an auto window holds, once the consumer has had to wait.
func Leeway(producers int) int { return min(4, max(1, farthest/producers)) }

func (e *Edge[T]) window() int {
	if e.cfg.Window > 0 {
		return e.cfg.Window
	}
	return max(Leeway(e.cfg.Producers)*e.kp*e.cfg.Producers, e.ahead)
}

// reach is the window that is used now: an auto window is one slice a producer until the consumer has had to wait after it
// had something. Before that finished work far ahead is memory for nothing, most of all while a run begins.
func (e *Edge[T]) reach() int {
	if e.cfg.Window > 0 || e.lacked {
		return e.window()
	}
	return max(e.kp*e.cfg.Producers, e.ahead)
}

// lack notes that the consumer waits.
func (e *Edge[T]) lack() {
	if !e.lacked && e.base > 0 {
		if e.lacked = true; len(e.putters) > 0 {
			e.wakePutters()
		}
	}
}

// Widen sets an auto buffer of items that hold slabs.
func (e *Edge[T]) Widen(n int) {
	e.mu.Lock()
	e.wide = n
	e.mu.Unlock()
}

// LongestSlice is that of so many producers, where nothing is set.
func LongestSlice(producers int) int { return min(MaxSlice, max(fewSlice, maxHeld/producers)) }

// Bound is the longest slice that a producer may use.
func (e *Edge[T]) Bound() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := LongestSlice(e.cfg.Producers)
	if e.cfg.Buffer > 0 || e.cfg.Slabs {
		b = min(b, e.room()/2)
	}
	if e.cfg.Window > 0 && e.cfg.Ordered && e.cfg.Producers > 1 {
		b = min(b, e.cfg.Window/(2*e.cfg.Producers))
	}
	return max(1, b)
}
