package edge

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Memory must not grow with the workers: beyond some hundred they share what there is.
func TestAnAutoBufferAndWindowAreBoundedForManyWorkers(t *testing.T) {
	for _, c := range []struct{ workers, slice, buffer, window int }{
		{1, 1, 4, 4},
		{2, 256, 1024, 2048},
		{16, 64, 256, 4096},
		{256, 1, 512, 1024},
		{512, 1, 512, 2048},
		{513, 1, 512, 1539},
		{1024, 1, 512, 2048},
		{1024, 16, 512, 32768},
		{4096, 1, 512, 4096},
	} {
		t.Run(fmt.Sprintf("%d workers, slices of %d", c.workers, c.slice), func(t *testing.T) {
			e := New(Config{Producers: c.workers, Consumers: 1, Ordered: true}, func(*Cell[int]) {})
			e.kp, e.lacked = c.slice, true
			assert.Equal(t, c.buffer, e.room())
			assert.Equal(t, c.window, e.window())
			assert.Equal(t, c.window, e.reach())
			e.lacked = false
			assert.Equal(t, c.workers*c.slice, e.reach(), "until the consumer has had to wait")
		})
	}
}

func TestABufferAndAWindowThatAreSetAreNotBounded(t *testing.T) {
	e := New(Config{Producers: 4096, Consumers: 1, Ordered: true, Buffer: 10_000, Window: 20_000}, func(*Cell[int]) {})
	assert.Equal(t, 10_000, e.room())
	assert.Equal(t, 20_000, e.reach())
	e = New(Config{Producers: 4096, Consumers: 1, Ordered: true}, func(*Cell[int]) {})
	e.Deepen(10_000, 20_000)
	assert.Equal(t, 10_000, e.room())
	assert.Equal(t, 20_000, e.reach())
}
