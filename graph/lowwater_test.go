package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// slow is a stage that takes a while that depends on the item and on the try.
func slow(id string, in graph.Port[*item.Sample], try uint64, opts ...graph.Option) graph.Port[*item.Sample] {
	return graph.Via(in, id, graph.MapCall(func(c *graph.Call, s *item.Sample) (*item.Sample, error) {
		pause(c, try)
		return s, nil
	}), opts...)
}

func pause(c *graph.Call, try uint64) {
	pos := c.Pos()
	d := scramble(uint64(pos.Place), uint64(pos.Epoch), uint64(pos.Source), try) % 8
	if d == 7 {
		d = 60
	}
	time.Sleep(time.Duration(d) * ms)
}

type unordered func(p *graph.Pipeline, try uint64, w, any graph.Option) graph.Port[*item.Sample]

// anyOrder are pipelines with order: completion whose streams are cut and resumed.
var anyOrder = map[string]unordered{
	"plain": func(p *graph.Pipeline, try uint64, w, any graph.Option) graph.Port[*item.Sample] {
		return slow("slow", graph.From(p, "read", samples{17, "a"}.source(), w, graph.Sampler(rotated{5})), try, w, any)
	},
	"source": func(p *graph.Pipeline, try uint64, w, any graph.Option) graph.Port[*item.Sample] {
		src := graph.From(p, "read", source[*item.Sample]{17, func(c *graph.Call, i int64) (*item.Sample, error) {
			pause(c, try)
			s := item.NewSample(fmt.Sprint("a", i))
			s.Set("n", item.Int(i))
			return s, nil
		}}, w, any)
		return graph.Via(src, "odd", graph.Filter(func(s *item.Sample) (bool, error) { return s.Get("n").Int()%3 != 1, nil }), w, any)
	},
	"skip": func(p *graph.Pipeline, try uint64, w, any graph.Option) graph.Port[*item.Sample] {
		src := slow("slow", graph.From(p, "read", samples{17, "a"}.source(), w), try, w, any)
		return graph.Via(src, "bad", graph.Map(func(s *item.Sample) (*item.Sample, error) {
			if s.Get("n").Int()%4 == 2 {
				return nil, errBad
			}
			return s, nil
		}), w, any, graph.OnError(graph.Skip))
	},
	"timeout": func(p *graph.Pipeline, try uint64, w, any graph.Option) graph.Port[*item.Sample] {
		src := slow("slow", graph.From(p, "read", samples{17, "a"}.source(), w), try, w, any)
		return graph.Via(src, "late", graph.Map(func(s *item.Sample) (*item.Sample, error) {
			if s.Get("n").Int()%5 == 3 {
				time.Sleep(15 * ms)
			}
			return s, nil
		}), w, graph.OnError(graph.Skip), graph.Timeout(10*ms))
	},
	"flat_map": func(p *graph.Pipeline, try uint64, w, any graph.Option) graph.Port[*item.Sample] {
		src := graph.From(p, "read", samples{9, "a"}.source(), w, graph.Sampler(rotated{2}))
		once := slow("slow", graph.Via(src, "once", graph.FlatMap(copies(func(n int64) int64 { return n % 4 })), w), try, w, any)
		return slow("slower", graph.Via(once, "twice", graph.FlatMap(copies(func(n int64) int64 { return n % 3 })), w, any), try+1, w, any)
	},
	"cache": func(p *graph.Pipeline, try uint64, w, any graph.Option) graph.Port[*item.Sample] {
		src := graph.From(p, "read", samples{11, "a"}.source(), w, graph.Sampler(rotated{2}))
		many := graph.Via(src, "many", graph.FlatMap(copies(func(n int64) int64 { return n % 3 })), w)
		kept := graph.Via(many, "keep", graph.Stage[*item.Sample, *item.Sample](&memo[*item.Sample]{limit: 1 << 30, copy: (*item.Sample).Share}))
		return slow("slow", kept, try, w, any)
	},
	"shuffle": func(p *graph.Pipeline, try uint64, w, any graph.Option) graph.Port[*item.Sample] {
		src := slow("slow", graph.From(p, "read", samples{17, "a"}.source(), w), try, w, any)
		return slow("slower", graph.Via(src, "shuffle", graph.Stage[*item.Sample, *item.Sample](swapped{5})), try+1, w, any)
	},
	"merge": func(p *graph.Pipeline, try uint64, w, any graph.Option) graph.Port[*item.Sample] {
		a := slow("slow", graph.From(p, "a", samples{11, "a"}.source(), w, graph.Sampler(rotated{3})), try, w, any)
		b := graph.From(p, "b", samples{4, "b"}.source(), w)
		ab := graph.Merge(p, "ab", []graph.Port[*item.Sample]{a, b})
		return graph.Via(ab, "odd", graph.Filter(func(s *item.Sample) (bool, error) { return s.Get("n").Int()%5 != 3, nil }), w, any)
	},
	"mix": func(p *graph.Pipeline, try uint64, w, any graph.Option) graph.Port[*item.Sample] {
		a := slow("slow", graph.From(p, "a", samples{11, "a"}.source(), w, graph.Sampler(rotated{3})), try, w, any)
		b := graph.From(p, "b", samples{4, "b"}.source(), w)
		return slow("slower", graph.Mix(p, "ab", []graph.Port[*item.Sample]{a, b}, graph.Mixing{Weights: []float64{2, 1}, Stop: graph.StopAll}), try, w, any)
	},
	"regroup": func(p *graph.Pipeline, try uint64, w, any graph.Option) graph.Port[*item.Sample] {
		src := slow("slow", graph.From(p, "read", samples{17, "a"}.source(), w), try, w, any)
		lists := graph.Via(src, "lists", graph.Collect[*item.Sample](3), w)
		un := graph.Via(lists, "apart", graph.FlatMap(func(l []*item.Sample, emit func(*item.Sample)) error {
			for _, s := range l {
				emit(s)
			}
			return nil
		}), w, any)
		return slow("slower", un, try+1, w, any)
	},
	"iterable": func(p *graph.Pipeline, try uint64, w, any graph.Option) graph.Port[*item.Sample] {
		src := graph.From(p, "read", records{of: []int{5, 1, 0, 7, 3}, width: 2}, w)
		odd := graph.Via(src, "odd", graph.Filter(func(s *item.Sample) (bool, error) { return s.Get("n").Int()%4 != 1, nil }), w)
		return slow("slow", odd, try, w, any)
	},
}

// got is one item that was delivered.
type got struct {
	epoch int64
	key   string
	pos   item.Pos
}

// part is what one run delivered, and its state at the end.
type part struct {
	items []got
	state graph.State
	warns []string
}

// outOfOrder runs a pipeline in virtual time, to its end or until the consumer has taken stop items or batches.
func outOfOrder(t *testing.T, build unordered, size, workers, stop int, try uint64, opts ...graph.PipelineOption) (x part) {
	synctest.Test(t, func(t *testing.T) {
		p := graph.New("any", append([]graph.PipelineOption{graph.Seed(4), graph.Epochs(3)}, opts...)...)
		w := graph.Workers(workers)
		port := build(p, try, w, graph.Order(graph.CompletionOrder))
		n := 0
		var run *graph.Run
		note := func() bool {
			if n++; n == stop {
				var err error
				x.state, err = run.State()
				require.NoError(t, err)
			}
			time.Sleep(time.Duration(scramble(uint64(n), try)%3) * ms)
			return n != stop
		}
		start := func() {
			var err error
			run, err = p.Start(t.Context())
			require.NoError(t, err)
		}
		if size == 0 {
			out := graph.Output(graph.Via(port, "pos", graph.MapCall(func(c *graph.Call, s *item.Sample) (got, error) {
				defer s.Release()
				return got{c.Pos().Epoch, strings.Clone(s.Key()), c.Pos()}, nil
			}), w), "out")
			start()
			for g, err := range out.All(run) {
				require.NoError(t, err)
				if x.items = append(x.items, g); !note() {
					break
				}
			}
		} else {
			out := graph.Output(graph.Via(port, "group", rowsOf{size}, w), "out")
			start()
			for b, err := range out.All(run) {
				require.NoError(t, err)
				for _, r := range b.Rows {
					if !r.StandIn {
						x.items = append(x.items, got{b.Epoch, strings.Clone(r.Key), r.Pos})
					}
				}
				if !note() {
					break
				}
			}
		}
		require.NoError(t, run.Wait())
		time.Sleep(time.Second) // for calls that were left behind
		s := run.Snapshot()
		require.Empty(t, s.Totals.Unbalanced)
		x.warns = s.Warnings
	})
	return x
}

func (x *part) keys() (keys []string) {
	for _, g := range x.items {
		keys = append(keys, fmt.Sprintf("%d:%s", g.epoch, g.key))
	}
	slices.Sort(keys)
	return keys
}

// above says that an item is of a place that a state has not passed.
func above(s *graph.State, g got) bool {
	if g.epoch != s.Epoch {
		return g.epoch > s.Epoch
	}
	x := s.Sources[g.pos.Source]
	split, record, iterable := g.pos.Split()
	if !iterable {
		return g.pos.Place >= x.Place
	}
	if x.Splits != nil && len(x.Splits.Lanes) == 0 && split == x.Splits.Split {
		return record > x.Splits.Record
	}
	return true // the order of records is not that of their places
}

func aheadOf(s *graph.State) (n int64) {
	for _, x := range s.Sources {
		n += x.Ahead
	}
	return n
}

// nothingLost checks what was delivered before a state and after it: all of it, and twice only what lies above the mark;
// moved says that positions are not those of the places that items came from. It gives how many came twice.
func nothingLost(t *testing.T, want []string, head, tail *part, moved bool, what string) (twice int64) {
	t.Helper()
	seen, below := map[string]int{}, map[string]bool{}
	for _, g := range head.items {
		k := fmt.Sprintf("%d:%s", g.epoch, g.key)
		seen[k]++
		below[k] = !moved && !above(&head.state, g)
	}
	for _, g := range tail.items {
		k := fmt.Sprintf("%d:%s", g.epoch, g.key)
		if seen[k] > 0 {
			twice++
			require.False(t, below[k], "%s: %s (%v) comes again", what, k, g.pos)
		}
		seen[k]++
	}
	var all []string
	for k := range seen {
		all = append(all, k)
	}
	slices.Sort(all)
	require.Equal(t, want, all, what)
	return twice
}

func TestStateInCompletionOrderLosesNothing(t *testing.T) {
	for shape, build := range anyOrder {
		for _, size := range []int{0, 4} {
			t.Run(fmt.Sprintf("%s/group=%d", shape, size), func(t *testing.T) {
				whole := outOfOrder(t, build, size, 1, 0, 0)
				want, more := whole.keys(), int64(0)
				for _, workers := range []int{1, 2, 8} {
					for cut := range tries(5) {
						head := outOfOrder(t, build, size, workers, cut, 1)
						if head.state.Version == 0 {
							break
						}
						require.True(t, head.state.Inexact)
						require.Contains(t, strings.Join(head.warns, "\n"), "the state is inexact: the stage")
						head.state = reread(t, head.state)
						tail := outOfOrder(t, build, size, 9-workers, 0, 2, graph.Resume(head.state, false))
						what := fmt.Sprintf("%d workers, cut at %d: %+v", workers, cut, head.state)
						twice := nothingLost(t, want, &head, &tail, shape == "regroup", what)
						if size == 0 && !slices.Contains([]string{"flat_map", "cache", "regroup"}, shape) { // no place is done with in part
							require.LessOrEqual(t, twice, aheadOf(&head.state), what)
						}
						if workers == 1 && size == 0 && !slices.Contains([]string{"flat_map", "cache", "regroup", "shuffle"}, shape) {
							require.Zero(t, twice, "one worker keeps the order")
						}
						more += twice
					}
				}
				require.Positive(t, more, "nothing came out of order, so this has shown nothing")
			})
		}
	}
}

// A run that is broken off and resumed again and again, also right after it was resumed and at the edges of epochs.
func TestStatesOfResumedRunsInCompletionOrderLoseNothing(t *testing.T) {
	for shape, build := range anyOrder {
		for _, size := range []int{0, 4} {
			t.Run(fmt.Sprintf("%s/group=%d", shape, size), func(t *testing.T) {
				whole := outOfOrder(t, build, size, 1, 0, 0)
				var all part
				var opts []graph.PipelineOption
				var last graph.State
				for i := uint64(1); ; i++ {
					x := outOfOrder(t, build, size, []int{8, 2, 1}[i%3], 1+int(scramble(i, uint64(size))%7), i, opts...)
					if all.items = append(all.items, x.items...); x.state.Version == 0 {
						break
					}
					require.False(t, before(&x.state, &last), "the mark falls from %+v to %+v", last, x.state)
					last = reread(t, x.state)
					opts = []graph.PipelineOption{graph.Resume(last, false)}
					require.Less(t, i, uint64(500), "it comes to no end")
				}
				keys := all.keys()
				require.Equal(t, whole.keys(), slices.Compact(keys))
			})
		}
	}
}

// before says that a state lies before another.
func before(s, last *graph.State) bool {
	if last.Version == 0 || s.Epoch != last.Epoch {
		return s.Epoch < last.Epoch
	}
	for i := range s.Sources {
		if s.Sources[i].Place < last.Sources[i].Place {
			return true
		}
	}
	return false
}
