//go:build linux && (amd64 || arm64) && !nocuda

package driver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/cuda/devicetest/standin"
	"github.com/penstock-go/penstock/cuda/driver"
	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// library is where the driver's stand-in lies; "" where there is no C compiler.
var library string

func TestMain(m *testing.M) { os.Exit(standin.Main(m, &library)) }

func TestTheDriver(t *testing.T) { standin.Run(t, library, driver.Backend{}) }

// numbers is a source of numbers.
type numbers struct{ n int64 }

func (p numbers) Open(context.Context, *graph.Env) (graph.Reader[int], error) {
	return graph.Reader[int]{Len: p.n, At: func(_ *graph.Call, i int64) (int, error) { return int(i), nil }}, nil
}

func enter(b *item.Batch) error {
	return errors.Join(b.Handle.Enter(0), b.Handle.Busy(time.Microsecond))
}

func newBatch(i int) (*item.Batch, error) {
	return &item.Batch{Number: int64(i), Rows: []item.Row{{Key: fmt.Sprint(i)}},
		Columns: []item.Column{{Name: "x", Kind: item.KindTensor, Shape: item.MakeShape(1, 4096), Data: make([]byte, 4096)}}}, nil
}

// BenchmarkCalls counts the calls of the driver for a batch, those that make the context current among them: where the
// consumer takes it only, and where it works on it.
func BenchmarkCalls(b *testing.B) {
	for _, works := range []bool{false, true} {
		b.Run(fmt.Sprint("works=", works), func(b *testing.B) {
			s := standin.New(b, library)
			p := graph.New("calls")
			batches := graph.Via(graph.From(p, "count", graph.Source[int](numbers{int64(b.N)})), "make", graph.Map(newBatch))
			out := graph.Output(graph.Via(graph.Via(batches, "pin", cuda.Pin{}), "copy", cuda.DeviceCopy{Backends: []cuda.Backend{driver.Backend{}}}), "train")
			r, err := p.Start(b.Context())
			require.NoError(b, err)
			var last item.DeviceMark
			for batch, err := range out.All(r) {
				require.NoError(b, err)
				if !works {
					continue
				}
				require.NoError(b, enter(batch))
				m, err := batch.Handle.Leave()
				require.NoError(b, err)
				if last != nil {
					require.NoError(b, last.Wait())
				}
				last = m
			}
			require.NoError(b, r.Wait())
			b.ReportMetric(float64(s.Read().Calls)/float64(b.N), "calls/op")
		})
	}
}
