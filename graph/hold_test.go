package graph_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// collate is the shortest stage that makes batches: a column of int64.
type collate struct {
	size int
	made *int
}

func (c collate) Open(context.Context, *graph.Env) (graph.Transform[int, *item.Batch], error) {
	return graph.Transform[int, *item.Batch]{Group: &graph.Group[int, *item.Batch]{
		Size: c.size,
		Slab: func() (*item.Batch, error) {
			*c.made++
			return &item.Batch{Columns: []item.Column{{Name: "v", Kind: item.KindInt, DType: item.Int64, Data: make([]byte, 8*c.size)}}}, nil
		},
		Row: func(_ *graph.Call, out *item.Batch, row int, in int) error {
			out.Columns[0].Int64s()[row] = int64(in)
			return nil
		},
		Fill: func(*item.Batch, int, int) {},
		Done: func(out *item.Batch, n int, number int64, meta []item.Row, free func()) *item.Batch {
			out.Number, out.Rows = number, append(out.Rows[:0], meta...)
			out.OnRelease(free)
			return out
		},
	}}, nil
}

// A batch that is kept keeps its content until its own release, however many are kept and whenever they are released.
func TestKeptBatchesStayWhatTheyAre(t *testing.T) {
	release := map[string]func(i int, kept []*item.Batch){
		"at the end":            func(int, []*item.Batch) {},
		"in the same iteration": func(i int, kept []*item.Batch) { kept[i].Release() },
		"in the next one": func(i int, kept []*item.Batch) {
			if i > 0 {
				kept[i-1].Release()
			}
		},
		"by another goroutine": func(i int, kept []*item.Batch) { go kept[i].Release() },
	}
	for name, f := range release {
		for _, sync := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					made := 0
					p := graph.New("keep")
					if sync {
						p.With(graph.Sync())
					}
					src := graph.From(p, "src", ints(400), graph.Workers(2))
					out := graph.Output(graph.Via(src, "batch", collate{4, &made}, graph.Workers(2), graph.Buffer(1)), "out")
					run, err := p.Start(t.Context())
					require.NoError(t, err)
					var kept []*item.Batch
					for b, err := range out.All(run) {
						require.NoError(t, err)
						b.Keep()
						i := len(kept)
						for row, v := range b.Column("v").Int64s() {
							require.Equal(t, int64(4*i+row), v)
						}
						kept = append(kept, b)
						f(i, kept)
						time.Sleep(ms)
					}
					require.NoError(t, run.Wait())
					require.Len(t, kept, 100)
					if name == "at the end" {
						for i, b := range kept {
							require.Equal(t, int64(4*i+3), b.Column("v").Int64s()[3])
							b.Release()
						}
						return
					}
					require.Less(t, made, 20, "slabs are recycled")
				})
			})
		}
	}
}

// A stage that collects batches holds more of them than the ring of the first group would have.
func TestGroupsOfGroupsDoNotLockUp(t *testing.T) {
	for _, size := range []int{1, 3, 40} {
		for _, sync := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				l := &ledger{}
				p := graph.New("nested", graph.Epochs(2))
				if sync {
					p.With(graph.Sync())
				}
				s := &step{op: "bags", id: "bags", n: 2}
				src := graph.From(p, "src", tokenSource{&step{id: "src", n: 200}, l}, graph.Workers(2))
				bags := graph.Via(src, "bags", graph.Stage[*token, *bag](withWorkers[*token, *bag]{s, l, s.group()}), graph.Workers(1), graph.Buffer(1))
				lists := graph.Via(bags, "lists", graph.Collect[*bag](size), graph.Workers(1), graph.Buffer(1))
				out := graph.Output(lists, "out")
				run, err := p.Start(t.Context())
				require.NoError(t, err)
				n := 0
				for list, err := range out.All(run) {
					require.NoError(t, err)
					for _, b := range list {
						require.True(t, b.live.Load())
						n++
					}
				}
				require.NoError(t, run.Wait())
				require.Equal(t, 200, n)
			})
		}
	}
}

// The numbers may be read at any time, from anywhere.
func TestSnapshotAtAnyTime(t *testing.T) {
	for _, sync := range []bool{false, true} {
		p := graph.New("snap", graph.Epochs(30))
		if sync {
			p.With(graph.Sync())
		}
		src := graph.From(p, "src", ints(50), graph.Workers(3))
		bad := graph.Via(src, "bad", graph.Map(func(v int) (int, error) {
			if v%7 == 0 {
				return 0, errBad
			}
			return v, nil
		}), graph.Workers(2), graph.OnError(graph.Skip))
		out := graph.Output(graph.Via(bad, "group", graph.Collect[int](8), graph.Workers(2)), "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		var wg group
		stop := make(chan struct{})
		for range 2 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						s := run.Snapshot()
						_ = run.Skips()
						require.LessOrEqual(t, s.Totals.Epochs, int64(30))
					}
				}
			})
		}
		for _, err := range out.All(run) {
			require.NoError(t, err)
		}
		require.NoError(t, run.Wait())
		close(stop)
		wg.Wait()
		require.Empty(t, run.Snapshot().Totals.Unbalanced)
	}
}

type group = sync.WaitGroup

// Stop may be called from anywhere; what has been read is still delivered.
func TestStopDeliversWhatWasRead(t *testing.T) {
	for _, sync := range []bool{false, true} {
		for _, budget := range []int64{0, 250, 1000} {
			synctest.Test(t, func(t *testing.T) {
				l := &ledger{}
				p := graph.New("stop", graph.Epochs(graph.Forever), graph.WithBudget(graph.Budget{Memory: budget}))
				if sync {
					p.With(graph.Sync())
				}
				read := 0
				src := graph.From(p, "src", source[*token]{100, func(_ *graph.Call, i int64) (*token, error) {
					time.Sleep(ms)
					read++
					tok := newToken(l, uint64(i))
					tok.size = 100
					return tok, nil
				}}, graph.Workers(1))
				w := graph.Workers(4)
				out := graph.Output(graph.Via(src, "work", graph.Map(func(v *token) (*token, error) { time.Sleep(10 * ms); return v, nil }), w), "out")
				run, err := p.Start(t.Context())
				require.NoError(t, err)
				go func() { time.Sleep(203 * ms); run.Stop() }()
				n := 0
				for tok, err := range out.All(run) {
					require.NoError(t, err)
					require.Equal(t, uint64(n%100), tok.id)
					n++
				}
				require.NoError(t, run.Wait())
				require.Equal(t, read, n, "budget %d", budget)
				require.Greater(t, n, 10)
				require.Zero(t, l.items.Load(), "every item is released")
				timesAddUp(t, run.Snapshot())
			})
		}
	}
}

// A pipeline may be started several times at once.
func TestStartAtOnce(t *testing.T) {
	p := graph.New("twice")
	src := graph.From(p, "src", ints(100))
	graph.Into(graph.Via(src, "work", graph.Map(func(v int) (int, error) { return v, nil }), graph.Workers(1), graph.Window(3)), "sink", counting{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			run, err := p.Start(context.Background())
			require.NoError(t, err)
			require.NoError(t, run.Wait())
			require.Equal(t, int64(100), run.Snapshot().Totals.Samples)
		})
	}
	wg.Wait()
}

type counting struct{}

func (counting) Open(context.Context, *graph.Env) (graph.Consumer[int], error) {
	return graph.Consumer[int]{Take: func(*graph.Call, int) error { return nil }}, nil
}

// A context that has ended before, or ends while the parts open, ends the run.
func TestCancelBeforeAndDuringStart(t *testing.T) {
	for at := range 12 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			n := 0
			trip := func() {
				if n++; n > at {
					cancel(errBroken)
					if at%2 == 1 {
						synctest.Wait()
					}
				}
			}
			if at == 0 {
				trip()
			}
			p := graph.New("c", graph.Epochs(graph.Forever))
			src := graph.From(p, "src", tripping[int]{trip, ints(10)}, graph.Workers(3))
			var port = src
			for _, id := range []string{"a", "b", "c", "d"} {
				port = graph.Via(port, id, graph.Stage[int, int](opening{trip}), graph.Workers(2))
			}
			out := graph.Output(port, "out")
			run, err := p.Start(ctx)
			if err != nil {
				require.ErrorIs(t, err, errBroken)
				return
			}
			var last error
			taken := 0
			for _, err := range out.All(run) {
				if last = err; err == nil {
					if taken++; taken > 20 {
						cancel(errBroken)
					}
				}
			}
			require.ErrorIs(t, run.Wait(), errBroken)
			require.ErrorIs(t, last, errBroken)
		})
	}
}

type tripping[T any] struct {
	trip func()
	graph.Source[T]
}

func (o tripping[T]) Open(ctx context.Context, e *graph.Env) (graph.Reader[T], error) {
	o.trip()
	return o.Source.Open(ctx, e)
}

type opening struct{ trip func() }

func (o opening) Open(context.Context, *graph.Env) (graph.Transform[int, int], error) {
	o.trip()
	return graph.Transform[int, int]{Map: func(_ *graph.Call, v int) (int, error) { return v, nil }}, nil
}
