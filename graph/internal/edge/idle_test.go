package edge

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/penstock-go/penstock/graph/internal/meter"
)

// A second consumer is woken for a whole slice. Where that is more than an auto buffer has room for at first, the buffer
// must grow although the first consumer never runs out: producers are held up, and somebody has nothing to do.
func TestNobodyStaysIdleWhileProducersAreHeldUp(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			const producers, consumers, slice, items = 64, 4, 20, 8_000
			e := New(Config{Producers: producers, Consumers: consumers, Ordered: ordered}, func(*Cell[int]) {})
			clock := meter.StartClock(false)
			next := make(chan int64, items)
			for i := range int64(items) {
				next <- i
			}
			close(next)
			began := time.Now()
			done := make(chan int, producers)
			for range producers {
				go func() {
					w := NewWaiter()
					for lo := range next {
						time.Sleep(50 * time.Microsecond)
						e.Put(w, clock, &Part[int]{Lo: lo, N: 1, Cells: make([]Cell[int], 1)}, 1, 0)
					}
					done <- 0
				}()
			}
			took := make(chan int, consumers)
			for range consumers {
				go func() {
					w, n := Taker[int]{W: NewWaiter()}, 0
					for k := 1; ; k = min(2*k, slice) {
						s := e.Take(&w, clock, k, 0)
						if !s.OK {
							break
						}
						n += len(s.Cells)
						time.Sleep(time.Duration(len(s.Cells)) * 2 * time.Microsecond)
					}
					took <- n
				}()
			}
			for range producers {
				<-done
			}
			e.Close(nil)
			each := items * 50 * time.Microsecond / producers
			assert.Less(t, time.Since(began), each*5/4, "as fast as the producers are")
			for range consumers {
				assert.Less(t, <-took, items*3/4)
			}
		})
	}
}
