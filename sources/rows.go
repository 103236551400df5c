package sources

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/shard"
)

// Rows is data in memory, columns of equal length, that comes as batches of Size rows: for samples so small that handing
// each on by itself would cost more than they do. [item.ColumnOf] makes the columns. They may hold numbers, tensors and
// pictures, not texts and bytes, whose lengths vary; they are shared and never written to.
//
// Order: that of the columns, or, if Shuffled, a global permutation of the rows, another one in each epoch, which the
// seed, the stage's id and the epoch decide. The last batch of an epoch may be short; DropLast leaves it out. The key of a
// row is # and its index. The digest is that of the same rows made one by one and collated, whatever Size is.
//
// An item is a batch, and so is a place: workers, state and resuming go by batches, a sampler orders batches, and ranks
// take turns in batches, not in rows. Batches lie in recycled memory, as those of collate. Any number of workers may
// read. Cost: BenchmarkRows; about 100 ns a row of 16 numbers with the digest, most of it for fetching from where the
// permutation points, and no allocation but one a batch, for the keys.
type Rows struct {
	Columns  []item.Column
	Size     int
	DropLast bool
	Shuffled bool
}

// Kind is the name in reports.
func (Rows) Kind() string { return "rows" }

// String is the declaration without the data.
func (r Rows) String() string {
	s := fmt.Sprintf("{Size:%d DropLast:%v Shuffled:%v Columns:[", r.Size, r.DropLast, r.Shuffled)
	for i, c := range r.Columns {
		if i > 0 {
			s += " "
		}
		s += fmt.Sprintf("%s:%v %v %v", c.Name, c.Kind, c.DType, c.Shape)
	}
	return s + "]}"
}

// Stream is what decides on the stream.
func (r Rows) Stream() string { return r.String() }

// Check refuses columns that are no data, and a size below 1.
func (r Rows) Check() error {
	if r.Size < 1 {
		return &graph.FieldError{Field: "Size", Code: "field_range", Msg: fmt.Sprintf("Size must be at least 1, got %d", r.Size)}
	}
	wrong := func(format string, args ...any) error {
		return &graph.FieldError{Field: "Columns", Code: "field_value", Msg: fmt.Sprintf(format, args...)}
	}
	if len(r.Columns) == 0 {
		return wrong("Columns is empty: there is nothing to give")
	}
	n := r.Columns[0].Shape.Dim(0)
	for i := range r.Columns {
		c := &r.Columns[i]
		switch c.Kind {
		case item.KindInt, item.KindFloat, item.KindTensor, item.KindImage:
		default:
			return wrong("column %q is %v; rows are of numbers, tensors and pictures", c.Name, c.Kind)
		}
		if c.Shape.Rank() == 0 || c.Shape.Dim(0) != n {
			return wrong("column %q has shape %v, but %q has %d rows", c.Name, c.Shape, r.Columns[0].Name, n)
		}
		if want := c.Shape.Elems() * c.DType.Size(); len(c.Data) != want {
			return wrong("column %q of %v %v takes %d bytes and has %d", c.Name, c.DType, c.Shape, want, len(c.Data))
		}
	}
	return nil
}

// Schema is that of the batches.
func (r Rows) Schema(item.Schema) (item.Schema, error) {
	s := item.Schema{Batch: true}
	for _, c := range r.Columns {
		f := item.FieldSpec{Name: c.Name, Kind: c.Kind, Typed: true, DType: c.DType}
		if c.Kind == item.KindTensor || c.Kind == item.KindImage {
			f.Shape = tail(c.Shape)
		}
		s = s.With(f)
	}
	return s, nil
}

// tail is a shape without its first dimension.
func tail(s item.Shape) item.Shape {
	dims := make([]int, 0, item.MaxRank)
	for i := 1; i < s.Rank(); i++ {
		dims = append(dims, s.Dim(i))
	}
	return item.MakeShape(dims...)
}

// Open makes the reader.
func (r Rows) Open(_ context.Context, env *graph.Env) (graph.Reader[*item.Batch], error) {
	if err := r.Check(); err != nil {
		return graph.Reader[*item.Batch]{}, err
	}
	n := int64(r.Columns[0].Shape.Dim(0))
	count := n / int64(r.Size)
	if n%int64(r.Size) > 0 && !r.DropLast {
		count++
	}
	shared := &ring{of: r, most: min(r.Size, int(n)), memory: env.Slab}
	seed := shard.Hash(env.Seed, textHash(env.Stage))
	hashed := env.Digest
	var tails []item.Shape
	for _, c := range r.Columns {
		tails = append(tails, tail(c.Shape))
	}
	worker := func(context.Context) (graph.Reader[*item.Batch], error) {
		w := rowReader{Rows: r, n: n, seed: seed, ring: shared, tails: tails, hashed: hashed, epoch: -1}
		return graph.Reader[*item.Batch]{Len: count, At: w.at}, nil
	}
	all, err := worker(context.Background())
	all.NewWorker = worker
	all.At = func(c *graph.Call, i int64) (*item.Batch, error) {
		w, _ := worker(c.Context())
		return w.At(c, i)
	}
	return all, err
}

func textHash(s string) uint64 {
	h := uint64(len(s))
	for _, b := range []byte(s) {
		h = shard.Hash(h, uint64(b))
	}
	return h
}

// ring recycles batches.
type ring struct {
	of     Rows
	most   int // rows of a batch: a Size beyond all rows takes no memory for more
	memory func(int) ([]byte, error)
	mu     sync.Mutex
	free   []*item.Batch
}

func (g *ring) take() (*item.Batch, error) {
	g.mu.Lock()
	if k := len(g.free) - 1; k >= 0 {
		b := g.free[k]
		g.free = g.free[:k]
		g.mu.Unlock()
		return b, nil
	}
	g.mu.Unlock()
	b := &item.Batch{Columns: make([]item.Column, len(g.of.Columns)), Rows: make([]item.Row, 0, g.most)}
	for i, c := range g.of.Columns {
		var err error
		if c.Data, err = g.memory(g.most * c.RowBytes()); err != nil {
			return nil, err
		}
		b.Columns[i] = c
	}
	return b, nil
}

func (g *ring) put(b *item.Batch) {
	g.mu.Lock()
	g.free = append(g.free, b)
	g.mu.Unlock()
}

// rowReader belongs to one worker.
type rowReader struct {
	Rows
	n      int64
	seed   uint64
	ring   *ring
	tails  []item.Shape
	hashed bool
	epoch  int64
	order  shard.Permutation
	hash   item.RowHasher
	index  []int64
	keys   []byte
	ends   []int
	seen   byte // of rows that were looked at; nobody reads it
}

func (w *rowReader) at(c *graph.Call, number int64) (*item.Batch, error) {
	pos := c.Pos()
	w.choose(pos.Epoch, number*int64(w.Size))
	b, err := w.ring.take()
	if err != nil {
		return nil, err
	}
	b.Epoch, b.Number = pos.Epoch, pos.Place
	for i := range b.Columns {
		from := &w.Columns[i]
		w.gather(&b.Columns[i], from, from.RowBytes())
		b.Columns[i].Shape = w.tails[i].Prepend(len(w.index))
	}
	w.label(b, item.Row{Pos: pos, Padding: c.Padding()})
	if w.hashed {
		w.hash.Hash(b)
	}
	b.OnRelease(func() { w.ring.put(b) })
	return b, nil
}

// choose finds which rows a batch has.
func (w *rowReader) choose(epoch, from int64) {
	count := int(min(int64(w.Size), w.n-from))
	w.index = slices.Grow(w.index[:0], count)[:count]
	if !w.Shuffled {
		for i := range w.index {
			w.index[i] = from + int64(i)
		}
		return
	}
	if w.epoch != epoch {
		w.epoch, w.order = epoch, shard.NewPermutation(w.n, shard.EpochSeed(w.seed, epoch))
	}
	w.order.Fill(w.index, from)
}

// ahead is how many rows are looked at before they are copied: rows lie anywhere in memory, and a processor waits for many
// at once where nothing else is done between them.
const ahead = 32

// gather copies rows of a column.
func (w *rowReader) gather(to, from *item.Column, size int) {
	data, src := to.Data[:len(w.index)*size], from.Data
	to.Data = data
	if size == 0 {
		return
	}
	for index := w.index; len(index) > 0; {
		some := index[:min(ahead, len(index))]
		for _, i := range some {
			w.seen ^= src[int(i)*size]
		}
		if size == 8 {
			for k, i := range some {
				binary.NativeEndian.PutUint64(data[k*8:], binary.NativeEndian.Uint64(src[i*8:]))
			}
		} else {
			for k, i := range some {
				copy(data[k*size:(k+1)*size], src[int(i)*size:])
			}
		}
		index, data = index[len(some):], data[len(some)*size:]
	}
}

// label names the rows. All keys of a batch are cut from one string.
func (w *rowReader) label(b *item.Batch, like item.Row) {
	w.keys, w.ends = w.keys[:0], w.ends[:0]
	for _, i := range w.index {
		w.keys = strconv.AppendInt(append(w.keys, '#'), i, 10)
		w.ends = append(w.ends, len(w.keys))
	}
	all, begin := string(w.keys), 0
	b.Rows = b.Rows[:0]
	for _, end := range w.ends {
		like.Key = all[begin:end]
		b.Rows = append(b.Rows, like)
		begin = end
	}
}
