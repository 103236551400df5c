package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

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

// Share is another token with the same id.
func (t *token) Share() *token { return newToken(t.l, t.use()) }

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
	op    string // source, map, filter, fan, bags, lists, merge, mix, block, cache
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
	mix   graph.Mixing
	from  int64 // in the model, the epoch before which a source has nothing
	again bool  // in the model, a source begins another pass
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
		if op == "merge" || op == "mix" || op == "block" {
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
		switch r.IntN(11) {
		case 0, 10:
			if short := r.IntN(3) == 0; depth > 1 || short {
				if short { // sources, that it may go through again
					depth = 2
				}
				ins := make([]*step, 2+r.IntN(2))
				for i := range ins {
					ins[i] = grow(depth - 1 - r.IntN(2))
				}
				if r.IntN(2) == 0 {
					return add("merge", ins...)
				}
				s := add("mix", ins...)
				s.mix = g.mixing(s, r)
				return s
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
		case 8:
			s := add("block", grow(depth-1))
			s.n = []int{1, 2, 3, 8, 200}[r.IntN(5)]
			return s
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
	g.root = g.cached(g.root, rand.New(rand.NewPCG(seed, 2)))
	return g
}

// mixing draws the shares and the rule of a mix. What is left of an epoch that ends early may be read or not, so there no
// error may lie in it; and what begins again must be one source, of which something comes through.
func (g *network) mixing(s *step, r *rand.Rand) graph.Mixing {
	m := graph.Mixing{Stop: graph.StopAll}
	for range s.ins {
		m.Weights = append(m.Weights, []float64{1, 1, 2, 5, 0.3}[r.IntN(5)])
	}
	if r.IntN(4) == 0 {
		m.Weights = nil
	}
	rule := r.IntN(3)
	switch {
	case g.errs:
	case rule == 0:
		m.Stop = graph.StopFirst
	case rule == 1:
		for _, in := range s.ins {
			if !in.steady(r) {
				return m
			}
		}
		m.Stop = graph.StopRepeat
	}
	return m
}

// steady sees to it that something comes of each pass of the one source above, where that can be.
func (s *step) steady(r *rand.Rand) bool {
	for ; s.op != "source"; s = s.ins[0] {
		if s.op != "map" && s.op != "fan" && s.op != "filter" {
			return false
		}
		s.gap = -1
	}
	s.n = max(s.n, 12+r.IntN(9))
	return true
}

// cached puts caches into some of the lines that begin at sources. What stands before one is not random.
func (g *network) cached(s *step, r *rand.Rand) *step {
	for i, in := range s.ins {
		s.ins[i] = g.cached(in, r)
	}
	line := s
	for line.op == "map" || line.op == "filter" || line.op == "fan" {
		line = line.ins[0]
	}
	if line.op != "source" || r.IntN(3) > 0 {
		return s
	}
	for up := s; ; up = up.ins[0] {
		up.rand, up.gap = false, -1
		if len(up.ins) == 0 {
			break
		}
	}
	c := &step{op: "cache", id: fmt.Sprintf("cache%d", len(g.steps)), ins: []*step{s}, gap: -1}
	g.steps = append(g.steps, c)
	return c
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
	scarce bool
	resume *graph.State
	fidget bool // what is auto moves at random while the run goes on
}

func (k *knobs) options(s *step, ins bool) []graph.Option {
	var o []graph.Option
	if s.skip {
		o = append(o, graph.OnError(graph.Skip))
	}
	if k.r == nil {
		return append(o, graph.Workers(1))
	}
	if k.fidget {
		o = append(o, graph.Workers([]int{0, 0, 0, 2}[k.r.IntN(4)]))
		if k.r.IntN(3) > 0 {
			o = append(o, graph.Waits())
		}
	} else {
		o = append(o, graph.Workers([]int{1, 2, 3, 8}[k.r.IntN(4)]))
	}
	o = append(o, graph.Buffer([]int{0, 0, 1, 2, 7, 64}[k.r.IntN(6)]))
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
	if k.scarce {
		asked := uint64(0)
		p.With(graph.MemoryUse(func() (used, limit int64) { // scarce now and then
			asked++
			return int64(scramble(asked/8, g.seed)%2) * 1000, 1000
		}))
	}
	if k.resume != nil {
		p.With(graph.Resume(*k.resume, true)) // other stages may have order: completion now
	}
	if k.sync {
		p.With(graph.Sync())
	}
	if k.fidget {
		p.With(graph.Tuned(func(may graph.Tunable) graph.Tuner { return &fidget{r: k.r, may: may} }))
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
	case "block":
		return graph.Via(ins[0], s.id, graph.Stage[*token, *token](tokenBlocks{s}), o...)
	case "mix":
		return graph.Mix(p, s.id, ins, s.mix)
	case "cache":
		limit := int64(1 << 30)
		o = o[:0]
		if k.r != nil {
			limit = []int64{1, 600, 3000, 20_000, 1 << 30}[k.r.IntN(5)]
			o = append(o, graph.Buffer([]int{0, 0, 1, 2, 7, 64}[k.r.IntN(6)]), graph.Window([]int{0, 0, 1, 5, 64}[k.r.IntN(5)]))
			if k.any && k.r.IntN(2) == 0 {
				o = append(o, graph.Order(graph.CompletionOrder))
			}
		}
		return graph.Via(ins[0], s.id, graph.Stage[*token, *token](&memo[*token]{limit: limit, copy: (*token).Share, l: l}), o...)
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

// tokenBlocks hands blocks of tokens on, permuted.
type tokenBlocks struct{ s *step }

func (t tokenBlocks) Kind() string { return "block" }
func (t tokenBlocks) Holds() int64 { return int64(t.s.n) }

func (t tokenBlocks) Open(context.Context, *graph.Env) (graph.Transform[*token, *token], error) {
	return graph.Transform[*token, *token]{Block: &graph.Block{Size: t.s.n, Order: func(epoch, number int64, n int) func(int) int {
		perm := t.s.perm(epoch, number, n)
		return func(i int) int { return perm[i] }
	}}}, nil
}

func (s *step) perm(epoch, number int64, n int) []int {
	return rand.New(rand.NewPCG(s.salt, uint64(epoch)<<32|uint64(number))).Perm(n)
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
