package sinks

import (
	"context"
	"time"
)

// grain is the longest time between two looks at the clock in which the thread counts as having had the processor. A look
// takes some tens of nanoseconds and an interrupt some microseconds; a processor that went to somebody else is away longer.
const grain = 20 * time.Microsecond

// launcher computes for the launches of steps, in one goroutine.
type launcher struct {
	now func() time.Duration // nil: the clock stands still while one computes
	// pass lets time pass instead, where the clock stands still while one computes (testing/synctest).
	pass func(context.Context, time.Duration) error
}

func newLauncher(pass func(context.Context, time.Duration) error) *launcher {
	start := time.Now()
	l := &launcher{pass: pass}
	if clockMoves() {
		l.now = func() time.Duration { return time.Since(start) }
	}
	return l
}

// compute keeps a processor busy for d, and gives how much later than d it was over. What the goroutine was without a
// processor does not count as computing: it is made up for, and is what makes it late.
func (l *launcher) compute(ctx context.Context, d time.Duration) (late time.Duration, err error) {
	if l.now == nil {
		start := time.Now()
		err = l.pass(ctx, d)
		return time.Since(start) - d, err
	}
	done := ctx.Done()
	start := l.now()
	last, had := start, time.Duration(0)
	for had < d {
		select {
		case <-done:
			return 0, context.Cause(ctx)
		default:
		}
		now := l.now()
		had += min(now-last, grain)
		last = now
	}
	return max(0, last-start-d), nil
}

// clockMoves says whether time passes while the program computes.
func clockMoves() bool {
	start := time.Now()
	for range 1 << 16 {
		if time.Since(start) > 0 {
			return true
		}
	}
	return false
}
