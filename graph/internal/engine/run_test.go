package engine

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/internal/meter"
)

// A cancellation ends the run from a goroutine of its own, while the consumer may end it too: whoever is second must not
// find a run that is over and has no error.
func TestAnEndThatComesSecondFindsTheErrorOfTheFirst(t *testing.T) {
	cause := errors.New("cause")
	for range 30_000 {
		r := NewRun(context.Background(), meter.StartClock(false))
		var found [2]error
		var both sync.WaitGroup
		for i := range found {
			both.Go(func() {
				r.End(cause)
				found[i] = r.Err()
			})
		}
		both.Wait()
		require.Equal(t, [2]error{cause, cause}, found)
	}
}
