package meter

import "time"

// Clock tells the time since a run began. Reading it by time.Since costs about half of time.Now.
type Clock struct {
	base time.Time
	off  bool
}

// StartClock begins at zero. off makes every reading zero: only to measure what clocks cost.
func StartClock(off bool) *Clock { return &Clock{base: time.Now(), off: off} }

// Now is the time since the start in nanoseconds.
func (c *Clock) Now() int64 {
	if c.off {
		return 0
	}
	return int64(time.Since(c.base))
}

// Base is the moment of the start.
func (c *Clock) Base() time.Time { return c.base }
