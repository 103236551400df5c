package sources

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSleepsEndOnTimeOrWithTheirOwnContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := sleeper{among: new(atomic.Int32)}
		start := time.Now()
		since := func() time.Duration { d := time.Since(start); start = time.Now(); return d }
		first, endFirst := context.WithCancelCause(t.Context())
		require.NoError(t, z.sleep(first, 2*time.Millisecond))
		require.NoError(t, z.sleep(first, 3*time.Millisecond))
		assert.Equal(t, 5*time.Millisecond, since())

		second, endSecond := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		go func() {
			time.Sleep(time.Second)
			endFirst(errors.New("somebody else's"))
			time.Sleep(time.Second)
			endSecond(why)
		}()
		require.ErrorIs(t, z.sleep(second, time.Hour), why)
		assert.Equal(t, 2*time.Second, since(), "the end of the first context is not the second's")
		require.ErrorIs(t, z.sleep(second, time.Hour), why)
		assert.Zero(t, since(), "an ended context ends the sleep at once")
	})
}
