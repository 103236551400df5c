package stages

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// late is a source whose samples take any time and are written straight into their place in the batch, where it is known.
type late struct {
	count int64
	delay func(epoch, index int64) time.Duration
}

func (late) Load() graph.Load { return graph.Wait }

func (l late) Open(context.Context, *graph.Env) (graph.Reader[*item.Sample], error) {
	return graph.Reader[*item.Sample]{Len: l.count, At: func(c *graph.Call, i int64) (*item.Sample, error) {
		epoch := c.Pos().Epoch
		time.Sleep(l.delay(epoch, i))
		shape := item.MakeShape(3)
		v := item.Tensor(c.Row("x", item.Float32, shape), item.Float32, shape)
		for k := range v.Float32s() {
			v.Float32s()[k] = float32(100*epoch + 10*i + int64(k))
		}
		s := item.NewSample(fmt.Sprintf("%d/%d", epoch, i))
		s.Set("x", v)
		return s, nil
	}}, nil
}

// Short batches at the ends of epochs, and samples of later epochs that are ready first: each row is its own sample's.
func TestRowsWrittenAheadAreTheirOwnSamples(t *testing.T) {
	for count := int64(1); count <= 7; count++ {
		for size := 1; size <= 5; size++ {
			for seed := range uint64(4) {
				t.Run(fmt.Sprintf("%d by %d, seed %d", count, size, seed), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { rowsAhead(t, count, size, seed) })
				})
			}
		}
	}
}

func rowsAhead(t *testing.T, count int64, size int, seed uint64) {
	const epochs = 8
	p := graph.New("late", graph.Epochs(epochs))
	read := graph.From(p, "read", late{count, func(epoch, i int64) time.Duration {
		r := rand.New(rand.NewPCG(seed, uint64(1000*epoch+i)))
		return time.Duration(r.IntN(4)*r.IntN(4)+1) * time.Millisecond
	}}, graph.Workers(24))
	out := graph.Output(graph.Via[*item.Sample, *item.Batch](read, "collate", Collate{Size: size}), "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	rows := int64(0)
	for b, err := range out.All(run) {
		require.NoError(t, err)
		x := b.Column("x")
		for i, row := range b.Rows {
			require.Equal(t, fmt.Sprintf("%d/%d", rows/count, rows%count), row.Key)
			for k := range 3 {
				require.Equal(t, float32(100*(rows/count)+10*(rows%count)+int64(k)), x.Float32s()[3*i+k], "%s of batch %d/%d", row.Key, b.Epoch, b.Number)
			}
			rows++
		}
	}
	require.NoError(t, run.Wait())
	require.Equal(t, count*epochs, rows)
}
