package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

// ledger counts what is alive.
type ledger struct{ items, opened, bytes, peak atomic.Int64 }

// token is an item that must be released once. Its id tells everything that happened to it.
type token struct {
	id   uint64
	size int64
	l    *ledger
	gone atomic.Bool
}

func newToken(l *ledger, id uint64) *token {
	t := &token{id: id, size: int64(id%900) + 100, l: l}
	l.items.Add(1)
	b := l.bytes.Add(t.size)
	for p := l.peak.Load(); b > p && !l.peak.CompareAndSwap(p, b); p = l.peak.Load() {
	}
	return t
}

func (t *token) Key() string  { return fmt.Sprintf("%016x", t.id) }
func (t *token) Bytes() int64 { return t.size }
func (t *token) Hash() uint64 { return t.id | 1 }
func (t *token) Release() {
	if t.gone.Swap(true) {
		panic("a token was released twice")
	}
	t.l.items.Add(-1)
	t.l.bytes.Add(-t.size)
}

func (t *token) use() uint64 {
	if t.gone.Load() {
		panic("a token was used after its release")
	}
	return t.id
}

// bag is a recycled group of ids.
type bag struct {
	ids  []uint64
	n    int
	live atomic.Bool
	free func()
}

func (b *bag) Release() {
	if !b.live.Swap(false) {
		panic("a bag was released twice")
	}
	clear(b.ids)
	b.free()
}

func scramble(z uint64, salts ...uint64) uint64 {
	for _, s := range append(salts, 0) {
		z ^= s + 0x9E3779B97F4A7C15
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		z ^= z >> 31
	}
	return z
}

// step is one stage of a random graph.
type step struct {
	op    string // source, map, filter, fan, bags, lists, merge
	id    string
	salt  uint64
	ins   []*step
	n     int // of a source; size of groups
	fails uint64
	skip  bool
	panic bool
	rand  bool
	drop  bool
	gap   int64 // a filter swallows this epoch
	sleep time.Duration
	wild  bool // one item in twenty takes twenty times as long
	open  bool // has workers of its own
}

func (s *step) String() string {
	t := fmt.Sprintf("%s:%s", s.id, s.op)
	if s.n > 0 {
		t += fmt.Sprintf("(%d)", s.n)
	}
	if s.fails > 0 {
		t += fmt.Sprintf(" fails=%d skip=%v", s.fails, s.skip)
	}
	for _, in := range s.ins {
		t = in.String() + " -> " + t
	}
	return t
}

func (s *step) failing(id uint64) bool { return s.fails > 0 && scramble(id, s.salt, 3)%s.fails == 0 }

var errToken = errors.New("a bad token")

func (s *step) fail() error {
	if s.panic {
		panic(errToken)
	}
	return errToken
}

func (s *step) work(id uint64) {
	d := s.sleep
	if s.wild && scramble(id, s.salt, 4)%20 == 0 {
		d *= 20
	}
	if d > 0 {
		time.Sleep(d)
	}
}

func (s *step) next(id uint64, c *graph.Call) uint64 {
	if s.rand {
		return scramble(id, s.salt, c.Rand().Uint64())
	}
	return scramble(id, s.salt)
}

func (s *step) keeps(id uint64, epoch int64) bool {
	return epoch != s.gap && scramble(id, s.salt, 1)%3 != 0
}

func (s *step) fan(id uint64) int {
	n := int(scramble(id, s.salt, 2) % 40)
	switch {
	case n < 8:
		return 0
	case n < 39:
		return n % 4
	}
	return 60
}

// network is a random graph.
type network struct {
	root   *step
	steps  []*step
	epochs int
	seed   uint64
	errs   bool
}

func makeNetwork(seed uint64) *network {
	r := rand.New(rand.NewPCG(seed, 1))
	g := &network{epochs: 1 + r.IntN(3), seed: seed, errs: r.IntN(3) == 0}
	sleeps := []time.Duration{0, 0, 0, time.Microsecond, 50 * time.Microsecond, ms, 5 * ms}
	add := func(op string, ins ...*step) *step {
		s := &step{
			op: op, id: fmt.Sprintf("%s%d", op, len(g.steps)), salt: r.Uint64(), ins: ins, gap: -1,
			sleep: sleeps[r.IntN(len(sleeps))], wild: r.IntN(3) == 0, open: r.IntN(3) == 0,
		}
		g.steps = append(g.steps, s)
		if op == "merge" {
			return s
		}
		s.rand = r.IntN(2) == 0
		switch {
		case r.IntN(4) == 0:
			s.fails, s.skip, s.panic = 3+r.Uint64N(20), true, r.IntN(2) == 0
		case g.errs && r.IntN(3) == 0:
			s.fails, s.panic = 40+r.Uint64N(200), r.IntN(2) == 0
		}
		return s
	}
	var grow func(depth int) *step
	grow = func(depth int) *step {
		if depth == 0 {
			s := add("source")
			s.n = []int{1, 2, 5, 17, 40, 80}[r.IntN(6)]
			return s
		}
		switch r.IntN(9) {
		case 0:
			if depth > 1 {
				ins := make([]*step, 2+r.IntN(2))
				for i := range ins {
					ins[i] = grow(depth - 1 - r.IntN(2))
				}
				return add("merge", ins...)
			}
			fallthrough
		case 1, 2, 3:
			return add("map", grow(depth-1))
		case 4:
			s := add("filter", grow(depth-1))
			if r.IntN(2) == 0 {
				s.gap = r.Int64N(3)
			}
			return s
		case 5:
			return add("fan", grow(depth-1))
		case 6:
			s := add("lists", grow(depth-1))
			s.n = []int{1, 2, 3, 8, 200}[r.IntN(5)]
			s.fails = 0
			return s
		default:
			s := add("bags", grow(depth-1))
			s.n, s.drop = []int{1, 2, 3, 8, 200}[r.IntN(5)], r.IntN(3) == 0
			return s
		}
	}
	g.root = grow(1 + r.IntN(5))
	return g
}

// tokenSource reads the tokens 0 to n-1.
type tokenSource struct {
	s *step
	l *ledger
}

func (t tokenSource) Open(context.Context, *graph.Env) (graph.Reader[*token], error) {
	s := t.s
	return graph.Reader[*token]{Len: int64(s.n), At: func(c *graph.Call, i int64) (*token, error) {
		id := s.next(uint64(i), c)
		s.work(id)
		if s.failing(id) {
			return nil, graph.Keyed(fmt.Sprint(i), s.fail())
		}
		return newToken(t.l, id), nil
	}}, nil
}

// withWorkers opens each worker apart, if the step says so, and counts what is open.
type withWorkers[A, B any] struct {
	s *step
	l *ledger
	t graph.Transform[A, B]
}

func (w withWorkers[A, B]) Kind() string { return w.s.op }

func (w withWorkers[A, B]) Open(context.Context, *graph.Env) (graph.Transform[A, B], error) {
	w.l.opened.Add(1)
	closing := func() error { w.l.opened.Add(-1); return nil }
	if !w.s.open || w.t.Group != nil {
		w.t.Close = closing
		return w.t, nil
	}
	return graph.Transform[A, B]{Close: closing, NewWorker: func(context.Context) (graph.Transform[A, B], error) {
		w.l.opened.Add(1)
		t := w.t
		t.Close = closing
		return t, nil
	}}, nil
}

// knobs are the settings that must not change what comes out.
type knobs struct {
	r      *rand.Rand
	sync   bool
	any    bool // order: completion here and there
	budget int64
}

func (k *knobs) options(s *step, ins bool) []graph.Option {
	var o []graph.Option
	if s.skip {
		o = append(o, graph.OnError(graph.Skip))
	}
	if k.r == nil {
		return append(o, graph.Workers(1))
	}
	o = append(o, graph.Workers([]int{1, 2, 3, 8}[k.r.IntN(4)]), graph.Buffer([]int{0, 0, 1, 2, 7, 64}[k.r.IntN(6)]))
	if ins {
		o = append(o, graph.Window([]int{0, 0, 1, 5, 64}[k.r.IntN(5)]))
	}
	if k.any && k.r.IntN(2) == 0 {
		o = append(o, graph.Order(graph.CompletionOrder))
	}
	return o
}

func (g *network) build(k *knobs, l *ledger) (*graph.Pipeline, *graph.Out[*token]) {
	p := graph.New("random", graph.Seed(g.seed), graph.Epochs(g.epochs), graph.WithBudget(graph.Budget{Memory: k.budget}))
	if k.sync {
		p.With(graph.Sync())
	}
	return p, graph.Output(g.port(p, g.root, k, l), "out")
}

func (g *network) port(p *graph.Pipeline, s *step, k *knobs, l *ledger) graph.Port[*token] {
	var ins []graph.Port[*token]
	for _, in := range s.ins {
		ins = append(ins, g.port(p, in, k, l))
	}
	o := k.options(s, true)
	via := func(t graph.Transform[*token, *token]) graph.Port[*token] {
		return graph.Via(ins[0], s.id, graph.Stage[*token, *token](withWorkers[*token, *token]{s, l, t}), o...)
	}
	switch s.op {
	case "source":
		return graph.From(p, s.id, tokenSource{s, l}, o...)
	case "merge":
		return graph.Merge(p, s.id, ins)
	case "map":
		return via(graph.Transform[*token, *token]{Map: func(c *graph.Call, in *token) (*token, error) {
			s.work(in.use())
			if s.failing(in.id) {
				return nil, s.fail()
			}
			defer in.Release()
			return newToken(l, s.next(in.id, c)), nil
		}})
	case "filter":
		return via(graph.Transform[*token, *token]{Choose: func(c *graph.Call, in *token) (*token, bool, error) {
			s.work(in.use())
			if s.failing(in.id) {
				return nil, false, s.fail()
			}
			if !s.keeps(in.id, c.Pos().Epoch) {
				in.Release()
				return nil, false, nil
			}
			return in, true, nil
		}})
	case "fan":
		return via(graph.Transform[*token, *token]{Emit: func(c *graph.Call, in *token, emit func(*token)) error {
			s.work(in.use())
			for i := range s.fan(in.id) {
				emit(newToken(l, scramble(in.id, s.salt, uint64(i))))
			}
			if s.failing(in.id) {
				return s.fail()
			}
			in.Release()
			return nil
		}})
	case "lists":
		lists := graph.Via(ins[0], s.id, graph.Collect[*token](s.n), o...)
		un := &step{op: "flat", id: s.id + "_un", sleep: s.sleep, salt: s.salt, open: s.open}
		return graph.Via(lists, un.id, graph.Stage[[]*token, *token](withWorkers[[]*token, *token]{un, l, graph.Transform[[]*token, *token]{
			Emit: func(_ *graph.Call, in []*token, emit func(*token)) error {
				for _, t := range in {
					un.work(t.use())
					emit(t)
				}
				return nil
			}}}), k.options(un, true)...)
	case "bags":
		bags := graph.Via(ins[0], s.id, graph.Stage[*token, *bag](withWorkers[*token, *bag]{s, l, s.group()}), o...)
		un := &step{op: "unbag", id: s.id + "_un", sleep: s.sleep, salt: s.salt, open: s.open}
		return graph.Via(bags, un.id, graph.Stage[*bag, *token](withWorkers[*bag, *token]{un, l, graph.Transform[*bag, *token]{
			Emit: func(_ *graph.Call, in *bag, emit func(*token)) error {
				defer in.Release()
				for _, id := range in.ids[:in.n] {
					un.work(id)
					emit(newToken(l, id))
				}
				return nil
			}}}), k.options(un, true)...)
	}
	panic(s.op)
}

// group copies ids into recycled bags. With skip a failing row gets a stand-in.
func (s *step) group() graph.Transform[*token, *bag] {
	return graph.Transform[*token, *bag]{Group: &graph.Group[*token, *bag]{
		Size: s.n, DropLast: s.drop,
		Slab: func() (*bag, error) { return &bag{ids: make([]uint64, s.n)}, nil },
		Row: func(c *graph.Call, out *bag, row int, in *token) error {
			s.work(in.use())
			if s.failing(in.id) {
				return s.fail()
			}
			out.ids[row] = s.next(in.id, c)
			in.Release()
			return nil
		},
		Fill: func(out *bag, to, from int) { out.ids[to] = out.ids[from] },
		Done: func(out *bag, n int, _ int64, _ []item.Row, free func()) *bag {
			if out.live.Swap(true) {
				panic("a bag was filled while in use")
			}
			out.n, out.free = n, free
			return out
		},
	}}
}

// outcome is what a run delivered.
type outcome struct {
	ids    []uint64
	epochs []int64
	err    string
	key    string
	snap   graph.Snapshot
}

// run runs the network until its end, or until the consumer's stop says so.
func (g *network) run(t *testing.T, k *knobs, act func(n int, r *graph.Run, cancel func()) (stop bool)) (o outcome) {
	l := &ledger{}
	synctest.Test(t, func(t *testing.T) {
		defer g.explain(t)
		p, out := g.build(k, l)
		if testing.Verbose() {
			t.Log(p.Describe())
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		run, err := p.Start(ctx)
		require.NoError(t, err)
		pace := time.Duration(scramble(g.seed, 77)%4) * ms
		n := 0
	loop:
		for e := range out.Epochs(run) {
			for tok, err := range e.All() {
				if err != nil {
					require.False(t, act == nil && tok != nil)
					break
				}
				o.ids, o.epochs = append(o.ids, tok.use()), append(o.epochs, e.Number)
				time.Sleep(pace)
				if n++; act != nil && act(n, run, func() { cancel(errBroken) }) {
					break loop
				}
			}
		}
		if err = run.Wait(); err != nil {
			o.err = err.Error()
			var se *graph.StageError
			if errors.As(err, &se) {
				o.key = se.Stage + " " + se.Pos.String()
			}
		}
		o.snap = run.Snapshot()
		timesAddUp(t, o.snap)
		require.Zero(t, l.items.Load(), "every item is released")
		require.Zero(t, l.opened.Load(), "what was opened is closed once")
	})
	return o
}

var budgets int64 = 1

var errBroken = errors.New("broken off")

func (g *network) explain(t *testing.T) {
	if t.Failed() {
		t.Logf("network of seed %d, %d epochs: %v", g.seed, g.epochs, g.root)
	}
}

// networks is how many random graphs are tried: a few hundred, or as PENSTOCK_GRAPHS says, from PENSTOCK_GRAPHS_FROM.
func networks(t *testing.T, usual int) (from, n uint64) {
	if testing.Short() {
		usual /= 10
	}
	if v := os.Getenv("PENSTOCK_GRAPHS"); v != "" {
		many, err := strconv.Atoi(v)
		require.NoError(t, err)
		usual = many
	}
	if v := os.Getenv("PENSTOCK_GRAPHS_FROM"); v != "" {
		first, err := strconv.ParseUint(v, 10, 64)
		require.NoError(t, err)
		return first, uint64(usual)
	}
	return 0, uint64(usual)
}

// Whatever the knobs, the delivered stream is that of the plain model, run item by item; so is the error it ends with.
func TestRandomGraphsDeliverTheSameForAnyKnobs(t *testing.T) {
	from, n := networks(t, 300)
	for seed := from; seed < from+n; seed++ {
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := makeNetwork(seed)
			sync := g.run(t, &knobs{sync: true}, nil)
			want, werr := g.model()
			g.same(t, want, werr, sync, "sync against the model")
			for i := range uint64(2) {
				r := rand.New(rand.NewPCG(seed, 100+i))
				k := &knobs{r: r}
				if r.IntN(2) == 0 {
					k.budget = (5000 + r.Int64N(20000)) * budgets
				}
				o := g.run(t, k, nil)
				g.same(t, want, werr, o, fmt.Sprintf("knobs %d against the model", i))
				require.Equal(t, sync.key, o.key)
				require.Equal(t, sync.snap.Digest, o.snap.Digest)
			}
		})
		if !ok && t.Failed() && from == 0 && n > 50 && seed > 60 {
			break
		}
	}
}

func (g *network) same(t *testing.T, want []entry, werr bool, o outcome, what string) {
	t.Helper()
	defer g.explain(t)
	ids, epochs := make([]uint64, 0, len(want)), make([]int64, 0, len(want))
	for _, e := range want {
		ids, epochs = append(ids, e.id), append(epochs, e.pos.Epoch)
	}
	require.Equal(t, werr, o.err != "", "%s: %s", what, o.err)
	require.Len(t, o.ids, len(ids), what)
	for i := range ids {
		require.Equal(t, ids[i], o.ids[i], "%s: item %d of %d", what, i, len(ids))
	}
	if len(ids) > 0 {
		require.Equal(t, epochs, o.epochs, what)
	}
	if werr {
		require.True(t, strings.Contains(o.err, "a bad token"), o.err)
	}
}

// groups says that what comes out depends on where the input ends, not only how much.
func (g *network) groups() bool {
	for _, s := range g.steps {
		if s.op == "merge" || s.op == "bags" || s.op == "lists" {
			return true
		}
	}
	return false
}

// A consumer that breaks off, cancels or stops after any number of items has got the beginning of the same stream.
func TestRandomGraphsBreakOffCleanly(t *testing.T) {
	from, n := networks(t, 120)
	for seed := from; seed < from+n; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := makeNetwork(seed)
			want, _ := g.model()
			r := rand.New(rand.NewPCG(seed, 200))
			at := 1 + r.IntN(len(want)+1)
			for _, how := range []string{"break", "cancel", "stop"} {
				for _, sync := range []bool{false, true} {
					o := g.run(t, &knobs{r: rand.New(rand.NewPCG(seed, 300)), sync: sync}, func(n int, run *graph.Run, cancel func()) bool {
						if n == at {
							switch how {
							case "break":
								return true
							case "cancel":
								cancel()
							case "stop":
								run.Stop()
							}
						}
						return false
					})
					func() {
						defer g.explain(t)
						if how == "stop" && g.groups() {
							return // where its sources were cut decides what is merged, and the last group is short
						}
						require.LessOrEqual(t, len(o.ids), len(want), how)
						if how != "stop" {
							require.LessOrEqual(t, len(o.ids), at, how)
						}
						for i := range o.ids {
							require.Equal(t, want[i].id, o.ids[i], "%s at %d: item %d", how, at, i)
						}
						if how == "cancel" && len(o.ids) >= at {
							require.Equal(t, errBroken.Error(), o.err)
						}
					}()
				}
			}
		})
	}
}

// With order: completion the epochs keep apart and hold the same items.
func TestRandomGraphsInCompletionOrderHoldTheSameItems(t *testing.T) {
	from, n := networks(t, 150)
	for seed := from; seed < from+n; seed++ {
		g := makeNetwork(seed)
		plain := !g.errs
		for _, s := range g.steps {
			// what stands in one group depends on the order, and so do the positions of its members
			plain = plain && (s.op != "bags" || s.n == 1) && (s.op != "lists" || s.n == 1) && !g.errs
		}
		if !plain {
			continue
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			want, _ := g.model()
			o := g.run(t, &knobs{r: rand.New(rand.NewPCG(seed, 400)), any: true}, nil)
			defer g.explain(t)
			count := map[string]int{}
			for _, e := range want {
				count[fmt.Sprint(e.pos.Epoch, " ", e.id)]++
			}
			for i := range o.ids {
				count[fmt.Sprint(o.epochs[i], " ", o.ids[i])]--
			}
			for k, n := range count {
				require.Zero(t, n, k)
			}
		})
	}
}
