package graph_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// countable is an item that can be counted and released.
type countable interface {
	Bytes() int64
	Release()
}

// memo keeps items, as many bytes as its limit says.
type memo[T countable] struct {
	limit int64
	copy  func(T) T
	l     *ledger // counts what is open
	most  atomic.Int64
	mu    sync.Mutex
	held  int64
	kept  map[int64][]T
}

func (m *memo[T]) Kind() string      { return "memo" }
func (m *memo[T]) CacheLimit() int64 { return m.limit }
func (m *memo[T]) Stream() string    { return "" }

func (m *memo[T]) Open(context.Context, *graph.Env) (graph.Transform[T, T], error) {
	m.kept, m.held = map[int64][]T{}, 0
	if m.l != nil {
		m.l.opened.Add(1)
	}
	return graph.Transform[T, T]{Cache: &graph.Cache[T]{
		Keep: m.keep, Find: m.find, Limit: m.limit,
		Full: func() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.limit-m.held < 100 && m.held > 0 },
		Held: func() int64 { m.mu.Lock(); defer m.mu.Unlock(); return m.held },
	}, Close: m.close}, nil
}

func (m *memo[T]) keep(index int64, made []T) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept[index] != nil {
		panic("kept twice")
	}
	var size int64
	for _, v := range made {
		size += v.Bytes()
	}
	if m.held+size > m.limit {
		return false
	}
	m.held += size
	m.most.Store(max(m.most.Load(), m.held))
	entry := make([]T, 0, len(made))
	for _, v := range made {
		entry = append(entry, m.copy(v))
	}
	m.kept[index] = entry
	return true
}

func (m *memo[T]) find(index int64, emit func(T)) {
	m.mu.Lock()
	entry, ok := m.kept[index]
	m.mu.Unlock()
	if !ok {
		panic("asked for what was not kept")
	}
	for _, v := range entry {
		emit(m.copy(v))
	}
}

func (m *memo[T]) close() error {
	if m.l != nil {
		m.l.opened.Add(-1)
	}
	for _, entry := range m.kept {
		for _, v := range entry {
			v.Release()
		}
	}
	return nil
}

// sized is a source of n tokens of 100 bytes each, and a stage that takes a while.
type sized struct {
	n     int64
	l     *ledger
	fails func(item.Pos) error
}

func (s *sized) Open(context.Context, *graph.Env) (graph.Reader[*token], error) {
	return graph.Reader[*token]{Len: s.n, At: func(c *graph.Call, i int64) (*token, error) {
		time.Sleep(time.Duration(i%7) * time.Microsecond)
		if s.fails != nil {
			if err := s.fails(c.Pos()); err != nil {
				return nil, err
			}
		}
		return newToken(s.l, uint64(i)*900), nil // of 100 bytes
	}}, nil
}

// replaced is a sampler with replacement, from few indices.
type replaced struct{ N int64 }

func (r replaced) Places(n int64, seed uint64) (graph.Places, error) { return draws{r.N, n, seed}, nil }

type draws struct {
	n, of int64
	seed  uint64
}

func (d draws) Len(int64) int64 { return d.n }
func (d draws) Index(epoch, place int64) int64 {
	return int64(scramble(d.seed, uint64(epoch), uint64(place)) % uint64(d.of))
}

// caching is a pipeline with a cache after two stages.
type caching struct {
	n, limit int64
	workers  int
	epochs   int
	sampler  graph.Sampling
	options  []graph.PipelineOption
	kept     []graph.Option
	decode   []graph.Option
	fails    func(item.Pos) error // at the source
	bad      func(item.Pos) error // at decode
	off      bool                 // without the cache
}

// result is what a run of it gave.
type result struct {
	ids  []uint64
	snap graph.Snapshot
	memo *memo[*token]
	err  error
}

func (c caching) run(t *testing.T) (r result) {
	t.Helper()
	l := &ledger{}
	r.memo = &memo[*token]{limit: c.limit, copy: (*token).Share, l: l}
	p := graph.New("caching", append(c.options, graph.Seed(3), graph.Epochs(c.epochs))...)
	w := graph.Workers(c.workers)
	src := graph.From(p, "read", graph.Source[*token](&sized{n: c.n, l: l, fails: c.fails}), w, graph.Sampler(c.sampler))
	port := graph.Via(src, "decode", graph.MapCall(func(call *graph.Call, in *token) (*token, error) {
		if c.bad != nil {
			if err := c.bad(call.Pos()); err != nil {
				return nil, err
			}
		}
		defer in.Release()
		return newToken(l, in.id+9000), nil
	}), append(c.decode, w)...)
	if !c.off {
		port = graph.Via(port, "keep", graph.Stage[*token, *token](r.memo), c.kept...)
	}
	port = graph.Via(port, "crop", graph.Map(func(in *token) (*token, error) {
		defer in.Release()
		return newToken(l, in.use()+90_000), nil
	}), w)
	out := graph.Output(port, "out")
	run, err := p.Start(t.Context())
	require.NoError(t, err)
	for v, err := range out.All(run) {
		if err == nil {
			r.ids = append(r.ids, v.use())
		}
	}
	r.err = run.Wait()
	r.snap = run.Snapshot()
	require.Empty(t, r.snap.Totals.Unbalanced)
	require.Zero(t, l.items.Load(), "every item is released")
	require.Zero(t, l.opened.Load())
	require.LessOrEqual(t, r.memo.most.Load(), c.limit)
	return r
}

func TestAFullCacheLeavesNothingToReadOrDecode(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		for name, o := range map[string][]graph.PipelineOption{
			"plain": nil, "sync": {graph.Sync()}, "budget": {graph.WithBudget(graph.Budget{Memory: 3000})},
		} {
			t.Run(fmt.Sprint(workers, " ", name), func(t *testing.T) {
				c := caching{n: 300, limit: 1 << 30, workers: workers, epochs: 3, sampler: rotated{77}, options: o}
				with := c.run(t)
				c.off = true
				without := c.run(t)
				require.NoError(t, with.err)
				assert.Equal(t, without.ids, with.ids)
				assert.Equal(t, *without.snap.Digest, *with.snap.Digest)
				for i, e := range with.snap.Epochs {
					made := int64(0)
					if i == 0 {
						made = 300
					}
					assert.Equal(t, made, e.ItemsIn["decode"], "epoch %d", i)
					assert.Equal(t, made, e.ItemsIn["read"], "epoch %d", i)
					assert.EqualValues(t, 300, e.ItemsIn["crop"], "epoch %d", i)
					assert.Equal(t, []graph.CacheEpoch{{ID: "keep", Hits: 300 - made, Misses: made}}, e.Caches)
				}
				x := with.snap.Caches[0]
				assert.Equal(t, int64(30_000), x.Bytes)
				assert.Equal(t, []int64{600, 300}, []int64{x.Hits, x.Misses})
				assert.InDelta(t, 1, *x.HitShare, 1e-9)
				assert.InDelta(t, 1, *x.BestHitShare, 1e-9)
			})
		}
	}
}

func TestACacheForTwoFifthsOfTheBytesGivesTwoFifthsOfTheHits(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		for _, order := range []graph.OrderBy{graph.InputOrder, graph.CompletionOrder} {
			t.Run(fmt.Sprint(workers, order), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := caching{n: 1000, limit: 40_000, workers: workers, epochs: 4, sampler: rotated{333},
						kept: []graph.Option{graph.Order(order)}}.run(t)
					require.NoError(t, r.err)
					require.Len(t, r.ids, 4000)
					for _, e := range r.snap.Epochs[1:] {
						share := float64(e.Caches[0].Hits) / 1000
						assert.InDelta(t, 0.4, share, 0.01)
						assert.Equal(t, e.Caches[0].Misses, e.ItemsIn["decode"])
					}
					assert.InDelta(t, 0.4, *r.snap.Caches[0].HitShare, 0.01)
					assert.InDelta(t, 0.4, *r.snap.Caches[0].BestHitShare, 0.001)
				})
			})
		}
	}
}

// An index that is drawn again while it is on its way is waited for: it is read once.
func TestWithReplacementNothingIsReadTwice(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		for _, limit := range []int64{1 << 30, 700, 50} {
			c := caching{n: 20, limit: limit, workers: workers, epochs: 2, sampler: replaced{200}}
			with := c.run(t)
			c.off = true
			require.Equal(t, c.run(t).ids, with.ids)
			x := with.snap.Caches[0]
			require.Equal(t, int64(400), x.Hits+x.Misses)
			if limit == 1<<30 {
				require.Equal(t, int64(20), x.Misses)
			}
		}
	}
}

// Whatever call fails, what comes before it is delivered, and the error is the one without a cache.
func TestAFaultAtAnyCallOfACachedLine(t *testing.T) {
	const n = 23
	for at := range int64(3 * n) {
		epoch, place := at/n, at%n
		for _, where := range []string{"read", "decode"} {
			c := caching{n: n, limit: 1200, workers: 1 + int(at%3)*3, epochs: 3, sampler: rotated{5}}
			bad := func(p item.Pos) error {
				if p.Epoch == epoch && p.Place == place {
					return errBad
				}
				return nil
			}
			if where == "read" {
				c.fails = bad
			} else {
				c.bad = bad
			}
			r := c.run(t)
			if r.err == nil { // it was in the cache by then
				require.Len(t, r.ids, 3*n)
				require.Positive(t, epoch)
				continue
			}
			require.ErrorIs(t, r.err, errBad)
			require.Len(t, r.ids, int(at))
			var se *graph.StageError
			require.ErrorAs(t, r.err, &se)
			require.Equal(t, where, se.Stage)
			require.Equal(t, place, se.Pos.Place)
		}
	}
}

func TestSkippedItemsAreNotKept(t *testing.T) {
	c := caching{n: 100, limit: 1 << 30, workers: 4, epochs: 3, sampler: rotated{7}, decode: []graph.Option{graph.OnError(graph.Skip)},
		bad: func(p item.Pos) error {
			if (p.Place+7*p.Epoch)%100%10 == 3 {
				return errBad
			}
			return nil
		}}
	r := c.run(t)
	require.NoError(t, r.err)
	require.Len(t, r.ids, 270)
	for _, e := range r.snap.Epochs[1:] {
		require.Equal(t, graph.CacheEpoch{ID: "keep", Hits: 90, Misses: 10}, e.Caches[0])
		require.EqualValues(t, 10, e.ItemsIn["decode"])
	}
	require.EqualValues(t, 30, r.snap.Totals.Skipped)
}

// random declares that it draws numbers.
type random struct{ graph.Stage[*token, *token] }

func (random) Random() bool { return true }

func TestACacheWhereItCannotWorkIsRefusedWithThePlaceForIt(t *testing.T) {
	keep := func() graph.Stage[*token, *token] {
		return &memo[*token]{limit: 1, copy: (*token).Share}
	}
	same := graph.Map(func(v *token) (*token, error) { return v, nil })
	for want, f := range map[string]func(p *graph.Pipeline, src graph.Port[*token]) graph.Port[*token]{
		`it stands behind "flip", which is random: every epoch would get the same picks; put it between "decode" and "flip"`: func(_ *graph.Pipeline, src graph.Port[*token]) graph.Port[*token] {
			a := graph.Via(src, "decode", same)
			b := graph.Via(a, "flip", graph.Stage[*token, *token](random{same}))
			return graph.Via(graph.Via(b, "crop", graph.Stage[*token, *token](random{same})), "keep", keep())
		},
		`a cache keeps what one source makes, and before it stands the merge "both"; put it before that, into each of its inputs`: func(p *graph.Pipeline, src graph.Port[*token]) graph.Port[*token] {
			other := graph.From(p, "other", graph.Source[*token](&sized{n: 3}))
			return graph.Via(graph.Merge(p, "both", []graph.Port[*token]{src, other}), "keep", keep())
		},
		`its items come from the cache "first" already; one of the two is enough`: func(_ *graph.Pipeline, src graph.Port[*token]) graph.Port[*token] {
			return graph.Via(graph.Via(graph.Via(src, "first", keep()), "decode", same), "keep", keep())
		},
		`a cache takes items one by one and has no workers`: func(_ *graph.Pipeline, src graph.Port[*token]) graph.Port[*token] {
			return graph.Via(src, "keep", keep(), graph.Workers(2))
		},
	} {
		p := graph.New("wrong")
		graph.Output(f(p, graph.From(p, "read", graph.Source[*token](&sized{n: 3}))), "out")
		_, err := p.Start(t.Context())
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, `stage "keep"`)
	}
	p := graph.New("lists")
	lists := graph.Via(graph.From(p, "read", graph.Source[*token](&sized{n: 9, l: &ledger{}})), "two", graph.Collect[*token](2))
	one := graph.Via(lists, "first", graph.Map(func(l []*token) (*token, error) { return l[0], nil }))
	graph.Output(graph.Via(one, "keep", keep()), "out")
	_, err := p.Start(t.Context())
	require.ErrorContains(t, err, `"two" makes one item of several; put the cache before it`)

	p = graph.New("blocks")
	turned := graph.Via(graph.From(p, "read", graph.Source[*token](&sized{n: 9, l: &ledger{}})), "turned", graph.Stage[*token, *token](backwards{3}))
	graph.Output(graph.Via(turned, "keep", keep()), "out")
	_, err = p.Start(t.Context())
	require.ErrorContains(t, err, `"turned" hands items on in another order; put the cache before it`)
}

// What a cache has is handed out however small the edges are, and a consumer may break off at any item.
func TestACacheWithNarrowEdges(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 5))
		pick := func(of ...int) int { return of[r.IntN(len(of))] }
		synctest.Test(t, func(t *testing.T) {
			c := caching{n: int64(pick(1, 2, 7, 60)), limit: int64(pick(1, 900, 2500, math.MaxInt32)), workers: pick(1, 2, 8),
				epochs: 4, sampler: rotated{int64(pick(0, 1, 3))},
				kept:   []graph.Option{graph.Buffer(pick(0, 1, 2)), graph.Window(pick(0, 1, 2))},
				decode: []graph.Option{graph.Buffer(pick(0, 1)), graph.Window(pick(0, 1))}}
			if pick(0, 1) == 1 {
				c.options = append(c.options, graph.WithBudget(graph.Budget{Memory: int64(pick(400, 900))}))
			}
			if pick(0, 1) == 1 {
				c.options = append(c.options, graph.Batches(pick(1, 5, 30)))
			}
			with := c.run(t)
			c.off = true
			require.Equal(t, c.run(t).ids, with.ids)
		})
	}
}
