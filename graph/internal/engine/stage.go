package engine

import (
	"runtime"

	"github.com/penstock-go/penstock/graph/internal/edge"
	"github.com/penstock-go/penstock/graph/internal/meter"
)

// target is how many nanoseconds of work one hand-over should be worth.
const target = 40_000

// Target is the same, for who works out how long slices will be.
const Target = target

// Body works on a slice and puts its results out, one input after the other. It stops early, with done < len(in), when
// out.Hurry says so. On an error done is the number of inputs before the failing one, which is left untouched.
type Body[A, B any] func(in []edge.Cell[A], out *Out[B]) (done int, err error)

// Stage is the running form of a stage that works item by item.
type Stage[A, B any] struct {
	Meter   *meter.Stage
	Workers int
	In      *edge.Edge[A]
	Out     *edge.Edge[B]
	// Open makes a worker's body and what closes it.
	Open func(worker int) (Body[A, B], func() error, error)
	// Drop gives up an input that will not be worked on.
	Drop func(*edge.Cell[A])
	// Wrap makes the error of an input: it is called before the input is dropped.
	Wrap func(worker int, c *edge.Cell[A], err error) error
	// WrapOpen makes the error of opening or closing.
	WrapOpen func(worker int, op string, err error) error
	// Key names an item by an output in the list of the slowest, PlaceKey one without outputs.
	Key      func(*edge.Cell[B]) string
	PlaceKey func(*edge.Tag) string
	// Hash, if set, hashes outputs on their way out.
	Hash func(*edge.Cell[B])
	// Finish, if set, sees each output on its way out: for sizes.
	Finish func(*edge.Cell[B])
	// Single: results are handed over one by one.
	Single bool
	// Gate, if set, admits outputs of a source in order.
	Gate Gate[B]
	// Cached, if set, is the cache that has some of what the source would read.
	Cached Cached[A]

	Staff
}

// Gate holds the outputs of a source back until there are bytes for them.
type Gate[B any] interface {
	// Admit waits for the turn of ordinal lo and says how many of the cells may pass; 0: the run is over. It reports
	// whether it waited. With no cells it only waits for the turn, and ends the gate there.
	Admit(w *edge.Waiter, lo int64, cells []edge.Cell[B]) (n int, waited bool, err error)
	// Refuse gives the error of an output that could never pass; nil for all others.
	Refuse(c *edge.Cell[B]) error
}

// Start starts the workers.
func (s *Stage[A, B]) Start(r *Run) {
	s.Out.Upstream(s.In.Cut)
	r.OnEnd(s.In.Abort)
	r.OnEnd(s.Out.Abort)
	s.open(s.Workers, s.In.Staff, func(no int, late bool) {
		r.Work(s.Meter, func() {
			w := &worker[A, B]{s: s, r: r, no: no, m: s.Meter.NewWorker(r.Clock.Now()), k: 1}
			w.run(late)
			if s.left() {
				s.Out.Close(s.In.Err())
				if s.Cached != nil {
					s.Cached.Left()
				}
			}
		})
	})
}

type worker[A, B any] struct {
	s    *Stage[A, B]
	r    *Run
	no   int
	m    *meter.Worker
	wait *edge.Waiter
	body Body[A, B]
	out  Out[B]
	take edge.Taker[A]
	part edge.Part[B]
	hits Hits[A]        // of the cache, if there is one
	ends []edge.Cell[B] // memory for outputs with the marks between them

	first    edge.Tag // the place of the slice's first input
	k, bound int
	resized  int32 // as of bound
	yields   bool  // lets the consumer of its output run before it goes on
	usual    int64 // service of an item, as the last slice had it
	singles  int64 // so many slices are of one item, to find out which one is slow
}

func (w *worker[A, B]) run(late bool) {
	s := w.s
	w.wait = edge.NewWaiter()
	w.take.W, w.take.No, w.take.Late = w.wait, w.no, late
	body, closing, err := w.open()
	if err != nil {
		if err = s.WrapOpen(w.no, "open", err); !late || !w.r.Over() && !s.refuse(w.no, err) {
			w.r.End(err)
		}
		return
	}
	w.body = body
	w.rebound()
	w.out.edge, w.out.w = s.Out, w
	if s.Cached != nil {
		w.hits = s.Cached.Hits(w.wait, w.m)
	}
	w.m.Spent(meter.Busy, w.r.Clock.Now())
	w.r.Watch(s.Meter, w.m)
	for w.slice() {
	}
	w.m.Left()
	if closing != nil {
		if err := Safely(closing); err != nil && !w.r.Over() {
			w.r.End(s.WrapOpen(w.no, "close", err))
		}
	}
}

func (w *worker[A, B]) open() (body Body[A, B], closing func() error, err error) {
	defer func() { err = recovered(recover(), err) }()
	return w.s.Open(w.no)
}

// rebound asks how long a slice may be now.
func (w *worker[A, B]) rebound() {
	w.resized = w.s.Out.Resized()
	w.bound = w.s.Out.Bound()
	if w.s.Single {
		w.bound = 1
	}
	w.k, w.out.limit = min(w.k, w.bound), w.bound*2
}

// slice takes one slice and works it off. It says whether there may be more.
func (w *worker[A, B]) slice() bool {
	s := w.s
	if w.resized != s.Out.Resized() {
		w.rebound()
	}
	w.m.Doing(meter.WaitIn)
	yield(&w.yields, w.m, w.r.Clock)
	k := w.k
	if w.hits != nil {
		k = s.Cached.Slice(k)
	}
	sl := s.In.Take(&w.take, w.r.Clock, k, w.m.Last())
	if sl.Waited {
		w.m.Spent(meter.WaitIn, w.r.Clock.Now())
	}
	if !sl.OK {
		return false
	}
	if sl.Off {
		standBy(s.In, &w.take, s.Meter, w.m, w.r.Clock)
		return true
	}
	rest, lo := sl.Cells, sl.Lo
	if rest[0].Flags&edge.Hit != 0 {
		return w.hit(sl)
	}
	for fresh := sl.Waited; len(rest) > 0; fresh = false {
		n, ok := w.step(rest, lo, sl.EpochLo, fresh)
		rest, lo = rest[n:], lo+int64(n)
		if !ok {
			if s.Cached != nil {
				s.Cached.Stop(lo - int64(n))
			}
			s.In.Cut()
			s.In.Leave(&w.take)
			w.lose(rest)
			return false
		}
		if len(rest) > 0 && s.Several() { // a body stops early only when someone starves
			s.In.GiveBack(lo, sl.EpochLo, rest)
			break
		}
	}
	return true
}

// yield lets others run, once after it was called for. It counts as waiting for input.
func yield(due *bool, m *meter.Worker, clock *meter.Clock) {
	if *due {
		*due = false
		runtime.Gosched()
		m.Spent(meter.WaitIn, clock.Now())
	}
}

// lose drops inputs that were taken and will not be worked on.
func (w *worker[A, B]) lose(rest []edge.Cell[A]) {
	for i := range rest {
		lose(w.s.Meter, &rest[i], w.s.Drop)
	}
}

// step runs the body over in and hands the results over. n is how many inputs it has dealt with.
func (w *worker[A, B]) step(in []edge.Cell[A], lo, epochLo int64, fresh bool) (n int, ok bool) {
	s, t0 := w.s, w.m.Last()
	w.m.On(int64(in[0].Epoch), in[0].Place)
	w.first = edge.Tag{Epoch: in[0].Epoch, Source: in[0].Source, Place: in[0].Place}
	w.m.Doing(meter.Busy)
	w.out.begin(s.Meter, lo, epochLo, t0, fresh)
	done, err := w.guard(in)
	n = done
	if err != nil {
		n++
		w.r.failed(s.Meter)
		err = s.Wrap(w.no, &in[done], err)
		s.Drop(&in[done])
	}
	now := w.r.Clock.Now()
	w.m.Spent(meter.Busy, now)
	w.out.stamp(now)
	w.account(in[:n], now-t0-w.out.idle)
	if s.Finish != nil || s.Hash != nil {
		now = w.finish(now)
	}
	clear(in[:n])
	return n, w.hand(n, err, now)
}

func (w *worker[A, B]) guard(in []edge.Cell[A]) (done int, err error) {
	defer func() {
		if p := recover(); p != nil {
			done = w.out.Cur
			err = recovered(p, nil)
		}
	}()
	return w.body(in, &w.out)
}

// account counts a worked-off slice and sets the length of the next one.
func (w *worker[A, B]) account(in []edge.Cell[A], took int64) {
	m, o := w.s.Meter, &w.out
	n := int64(len(in)) - o.Marks
	if n > 0 {
		m.In.Add(n)
		m.Entered(w.m, int64(in[0].Epoch), n)
		each := took / n
		if !m.Reports {
			m.Service.Add(each, n)
		}
		if n > 1 && !m.Sliced.Load() {
			m.Sliced.Store(true)
		}
		w.adapt(each, n, took)
		if n == 1 && m.Slowest.Beats(each) {
			m.Slowest.Add(w.slowKey(in), each)
		}
	}
	if o.Done > 0 {
		m.Done.Add(o.Done)
	}
	if o.Filtered > 0 {
		m.Filtered.Add(o.Filtered)
	}
	if o.Skips > 0 {
		m.Skipped.Add(o.Skips)
	}
}

// slowKey names the only item of a slice by its output: the input may be gone by now, and be another item already.
func (w *worker[A, B]) slowKey(in []edge.Cell[A]) string {
	if c := w.out.cells; len(c) > 0 && !c[0].Skipped() {
		return w.s.Key(&c[0])
	}
	return w.s.PlaceKey(&in[0].Tag)
}

// adapt chooses the length of the next slice: at most double, down at once. After a slice far above the usual time the
// worker looks at single items for a while. What takes less than 8 targets is left alone: it may be the scheduler.
func (w *worker[A, B]) adapt(each, n, took int64) {
	if n > 1 && took > 8*max(target, n*w.usual) && w.usual > 0 {
		w.singles = 4 * MaxSlice
	}
	// One slice in many loses its processor; two in a row tell of the items. Downstream cuts a long slice short anyway.
	quick := each
	if w.usual > 0 {
		quick = min(each, w.usual)
	}
	w.usual = each
	want := MaxSlice
	if quick > 0 {
		want = int(min(int64(MaxSlice), target/quick))
	}
	if w.singles > 0 {
		w.singles--
		want = 1
	}
	w.k = max(1, min(2*w.k, want, w.bound))
}

// MaxSlice is the longest slice.
const MaxSlice = edge.MaxSlice

func (w *worker[A, B]) finish(now int64) int64 {
	s := w.s
	for i := range w.out.cells {
		c := &w.out.cells[i]
		if c.Skipped() {
			continue
		}
		if s.Finish != nil {
			s.Finish(c)
		}
		if s.Hash != nil {
			s.Hash(c)
		}
	}
	later := w.r.Clock.Now()
	w.m.Spent(meter.Busy, later)
	if s.Hash != nil {
		w.m.Digested(later - now)
	}
	return later
}

// hand puts the outputs of the last n inputs, with an error after them.
func (w *worker[A, B]) hand(n int, err error, now int64) bool {
	w.m.Doing(meter.WaitOut)
	o, p := &w.out, &w.part
	lo, left := o.lo, int64(n)-(o.lo-o.first)
	if w.s.Gate != nil {
		return w.through(lo, n, err, now)
	}
	*p = edge.Part[B]{Lo: lo, N: left, EpochLo: o.epochLo, Cells: o.cells, Err: err}
	if len(o.cells) == 0 && n > 0 {
		p.Hole, p.First = o.hole(), w.first
	}
	w.asMisses(p)
	res := w.s.Out.Put(w.wait, w.r.Clock, p, w.k, now)
	o.cells = p.Cells
	w.yields = w.yields || res.Woke
	if res.Waited {
		w.m.Spent(meter.WaitOut, w.r.Clock.Now())
	}
	return res.OK && err == nil
}

// through is hand for a source with a byte budget: outputs pass as there are bytes for them, in order.
func (w *worker[A, B]) through(lo int64, n int, err error, now int64) bool {
	o, p := &w.out, &w.part
	cells := o.cells
	total := len(cells)
	for sent := 0; ; {
		m, waited, gerr := w.s.Gate.Admit(w.wait, lo, cells[sent:total])
		if waited {
			now = w.r.Clock.Now()
			w.m.Spent(meter.WaitOut, now)
		}
		if m == 0 && gerr == nil && (err == nil || sent < total) {
			for i := range cells[sent:] {
				w.s.Out.Drop(&cells[sent+i])
			}
			clear(cells)
			o.cells = cells[:0]
			return false
		}
		if gerr != nil {
			w.s.Out.Drop(&cells[sent+m])
			err, total = gerr, sent+m
		}
		*p = edge.Part[B]{Lo: lo, N: int64(m), EpochLo: o.epochLo, Cells: append(p.Cells[:0], cells[sent:sent+m]...)}
		if m == 0 { // an error, whose turn has come: what follows stops the gate, and nobody before it waits there
			p.N, p.Err = 1, err
		}
		sent += m
		lo += p.N
		w.asMisses(p)
		res := w.s.Out.Put(w.wait, w.r.Clock, p, w.k, now)
		w.yields = w.yields || res.Woke
		if res.Waited {
			now = w.r.Clock.Now()
			w.m.Spent(meter.WaitOut, now)
		}
		if !res.OK || sent >= total && (m == 0 || err == nil) {
			for i := sent; i < len(cells); i++ {
				if gerr == nil || i > sent {
					w.s.Out.Drop(&cells[i])
				}
			}
			clear(cells)
			o.cells = cells[:0]
			return res.OK && err == nil
		}
	}
}
