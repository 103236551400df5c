package graph_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// touchy is an item one of whose own methods panics.
type touchy struct {
	id     int
	method string
	free   func() // of a group's output
}

func (v *touchy) trip(method string) {
	if v.method == method && v.id == 7 {
		panic(errBad)
	}
}
func (v *touchy) Key() string  { v.trip("key"); return "k" }
func (v *touchy) Bytes() int64 { v.trip("bytes"); return 10 }
func (v *touchy) Hash() uint64 { v.trip("hash"); return uint64(v.id) | 1 }
func (v *touchy) Release() {
	v.trip("release")
	if v.free != nil {
		v.free()
	}
}

type touchyGroup struct{ part string }

func (g touchyGroup) trip(part string) {
	if g.part == part {
		panic(errBad)
	}
}

func (g touchyGroup) Open(context.Context, *graph.Env) (graph.Transform[*touchy, *touchy], error) {
	g.trip("open")
	return graph.Transform[*touchy, *touchy]{
		Group: &graph.Group[*touchy, *touchy]{
			Size:  3,
			First: func(*touchy) error { g.trip("first"); return nil },
			Slab:  func() (*touchy, error) { g.trip("slab"); return &touchy{}, nil },
			Row: func(_ *graph.Call, out *touchy, row int, in *touchy) error {
				g.trip("row")
				if g.part == "fill" && in.id%3 == 1 {
					return errBad
				}
				return nil
			},
			Fill: func(*touchy, int, int) { g.trip("fill") },
			Done: func(out *touchy, n int, number int64, _ []item.Row, free func()) *touchy {
				g.trip("done")
				out.free = free
				return out
			},
		},
		Close: func() error { g.trip("close"); return nil },
	}, nil
}

func (touchyGroup) Kind() string { return "touchy_group" }

type touchyPlaces struct {
	part string
	n    int64
}

func (s touchyPlaces) Places(n int64, _ uint64) (graph.Places, error) {
	if s.part == "places" {
		panic(errBad)
	}
	s.n = n
	return s, nil
}
func (s touchyPlaces) Len(epoch int64) int64 {
	if s.part == "len" && epoch == 1 {
		panic(errBad)
	}
	return s.n
}
func (s touchyPlaces) Index(_, i int64) int64 {
	if s.part == "index" && i == 5 {
		panic(errBad)
	}
	return i
}

type touchyPeak struct{ part string }

func (s touchyPeak) Open(context.Context, *graph.Env) (graph.Transform[*touchy, *touchy], error) {
	return graph.Transform[*touchy, *touchy]{NewWorker: func(context.Context) (graph.Transform[*touchy, *touchy], error) {
		if s.part == "new worker" {
			panic(errBad)
		}
		return graph.Transform[*touchy, *touchy]{
			Map: func(_ *graph.Call, v *touchy) (*touchy, error) { return v, nil },
			Close: func() error {
				if s.part == "worker close" {
					panic(errBad)
				}
				return nil
			},
		}, nil
	}}, nil
}

func (s touchyPeak) Peak(*touchy) int64 {
	if s.part == "peak" {
		panic(errBad)
	}
	return 10
}

type touchySink struct{ part string }

func (s touchySink) Open(context.Context, *graph.Env) (graph.Consumer[*touchy], error) {
	n := 0
	return graph.Consumer[*touchy]{Take: func(*graph.Call, *touchy) error {
		if n++; s.part == "take" && n == 2 {
			panic(errBad)
		}
		return nil
	}}, nil
}

// Whatever part of a stage, of an item or of a sampler panics, the run ends with an error that names the stage.
func TestPanicsAnywhereEndTheRun(t *testing.T) {
	methods := []string{"key", "bytes", "hash", "release"}
	parts := []string{"open", "first", "slab", "row", "fill", "done", "close", "places", "len", "index", "new worker", "worker close", "peak", "take"}
	for _, part := range append(methods, parts...) {
		for _, workers := range []int{1, 3} {
			for _, groups := range []bool{false, true} {
				t.Run(part, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := graph.Workers(workers)
						p := graph.New("touchy", graph.Epochs(2), graph.WithBudget(graph.Budget{Memory: 1000}))
						port := graph.From(p, "src", source[*touchy]{30, func(_ *graph.Call, i int64) (*touchy, error) {
							return &touchy{id: int(i), method: part}, nil
						}}, w, graph.Sampler(touchyPlaces{part: part}))
						port = graph.Via(port, "peak", graph.Stage[*touchy, *touchy](touchyPeak{part}), w)
						if groups {
							o := []graph.Option{w}
							if part == "fill" {
								o = append(o, graph.OnError(graph.Skip))
							}
							port = graph.Via(port, "group", graph.Stage[*touchy, *touchy](touchyGroup{part}), o...)
						}
						port = graph.Via(port, "last", graph.Filter(func(v *touchy) (bool, error) { return v.id != 7, nil }), w)
						graph.Into(port, "sink", touchySink{part})
						run, err := p.Start(t.Context())
						if err == nil {
							err = run.Wait()
						}
						if err == nil {
							return // the part was not in use
						}
						var se *graph.StageError
						require.ErrorAs(t, err, &se, "%v", err)
						require.True(t, errors.Is(err, errBad), "%v", err)
						require.NotEmpty(t, se.Stage)
						require.NotEmpty(t, se.Stack, "%v", err)
					})
				})
			}
		}
	}
}

// touchySplits are read forward; one of their records panics in a method of its own, or one split fails.
type touchySplits struct{ part string }

func (s touchySplits) Open(context.Context, *graph.Env) (graph.Reader[*touchy], error) {
	return graph.Reader[*touchy]{Splits: 4, Interleave: 3, Read: func(_ *graph.Call, split int, from int64, emit func(*touchy) error) error {
		for i := int(from); i < 10; i++ {
			if s.part == "skip" && split == 1 && i == 5 {
				return errBad
			}
			if err := emit(&touchy{id: split + i, method: s.part}); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// The lanes of a source that is read forward wait for each other, and for who takes from them in turn: a panic of one
// must not leave the others behind.
func TestPanicsInASourceThatIsReadForwardEndTheRun(t *testing.T) {
	for _, part := range []string{"bytes", "hash", "skip"} {
		for _, workers := range []int{1, 3} {
			t.Run(part, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := graph.New("touchy", graph.Epochs(2), graph.OnSkip(func(graph.SkipNote) { panic(errBad) }))
					out := graph.Output(graph.From(p, "src", touchySplits{part}, graph.Workers(workers), graph.OnError(graph.Skip)), "out")
					run, err := p.Start(t.Context())
					require.NoError(t, err)
					for _, err := range out.All(run) { // somebody must take what comes before the panic
						if err != nil {
							break
						}
					}
					err = run.Wait()
					var se *graph.StageError
					require.ErrorAs(t, err, &se)
					require.ErrorIs(t, err, errBad)
					require.Equal(t, "src", se.Stage)
					require.NotEmpty(t, se.Stack)
				})
			})
		}
	}
}

// keyedOnce is an item whose key panics from the second time on.
type keyedOnce struct {
	id   int
	keys atomic.Int32
}

func (v *keyedOnce) Key() string {
	if v.keys.Add(1) > 1 && v.id == 8 {
		panic(errBad)
	}
	return "k"
}

// A straggler is named by its key while its edge is locked: were the lock kept, the run could not end.
func TestAPanicOfAStragglersKeyIsTheRunsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("held")
		src := graph.From(p, "read", source[*keyedOnce]{40, func(_ *graph.Call, i int64) (*keyedOnce, error) {
			return &keyedOnce{id: int(i)}, nil
		}}, graph.Workers(1))
		slow := graph.Via(src, "slow", graph.Map(func(v *keyedOnce) (*keyedOnce, error) {
			if v.id == 8 {
				time.Sleep(200 * ms)
			}
			time.Sleep(4 * ms)
			return v, nil
		}), graph.Workers(4), graph.Window(4))
		out := graph.Output(slow, "out")
		run, err := p.Start(t.Context())
		require.NoError(t, err)
		n := 0
		for range out.All(run) {
			n++
		}
		err = run.Wait()
		var se *graph.StageError
		require.ErrorAs(t, err, &se)
		require.ErrorIs(t, err, errBad)
		require.Equal(t, "slow", se.Stage)
		require.NotEmpty(t, se.Stack)
	})
}
