package cuda

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

// Pin sees to it that batches lie in page-locked memory of the device of the next device_copy: from there a copy to the
// device runs beside everything else, from elsewhere it holds the host up and runs at a fraction of the rate.
//
// It costs no copy: collate above it, across stages that hand batches on as they are, fills page-locked slabs at once. A
// batch that comes from elsewhere is copied once, and counted (copied_bytes of the report's devices). Memory is taken
// and locked once, in the background, while the first batches are being filled.
//
// Limit bounds the page-locked memory, which the system can neither move nor reclaim. By default it is a quarter of the
// container's memory limit, or of the machine's memory, and at most 8 GiB; never more than is available. All of it counts
// as the pipeline's memory budget.
//
// Off hands batches on as they are, not page-locked: for a run to compare with. See docs/pinning-and-copies.md.
type Pin struct {
	Limit int64
	Off   bool
}

// Bind names the fields.
func (p *Pin) Bind(f *registry.Fields) {
	f.Size(&p.Limit, "limit", 0, "most bytes of page-locked memory; default: a quarter of the container's memory, at most 8GiB", registry.Min(0))
	f.Bool(&p.Off, "off", "hand batches on as they are, not page-locked: for a run to compare with")
}

// Check refuses settings that are out of range.
func (p Pin) Check() error { return registry.Check(&p, (*Pin).Bind) }

// Kind is the word of a spec.
func (Pin) Kind() string { return "pin" }

// Traits says that it hands batches on as they are, one after the other.
func (Pin) Traits() graph.Traits { return graph.Traits{Serial: true} }

// CheckBelow demands a stage that copies to a device.
func (Pin) CheckBelow(below []any) error {
	if _, ok := nextCopy(below); !ok {
		return errors.New("no device_copy stands below it, so there is no device to pin memory for; put one below it, or leave pin out")
	}
	return nil
}

func nextCopy(below []any) (DeviceCopy, bool) {
	for _, d := range below {
		if c, ok := d.(DeviceCopy); ok {
			return registry.Filled(c, (*DeviceCopy).Bind), true
		}
	}
	return DeviceCopy{}, false
}

// Schema is that of the input, in page-locked memory.
func (p Pin) Schema(in item.Schema) (item.Schema, error) {
	if !in.Batch && !in.Open {
		return in, errors.New("wanted batches, found samples; put collate before it")
	}
	if !p.Off {
		in.Place = item.Pinned
	}
	return in, nil
}

// Open opens the device.
func (p Pin) Open(ctx context.Context, env *graph.Env) (graph.Transform[*item.Batch, *item.Batch], error) {
	c, ok := nextCopy(env.Below())
	if !ok { // the upper part of a pipeline, looked at alone
		env.Warn("the device_copy below is left out here, so nothing is page-locked and batches pass as they are")
	}
	if !ok || p.Off {
		return graph.Transform[*item.Batch, *item.Batch]{Map: func(_ *graph.Call, in *item.Batch) (*item.Batch, error) { return in, nil }}, nil
	}
	return p.open(ctx, env, c)
}

func (p Pin) open(ctx context.Context, env *graph.Env, c DeviceCopy) (graph.Transform[*item.Batch, *item.Batch], error) {
	l, err := linkOf(env, c)
	if err != nil {
		return graph.Transform[*item.Batch, *item.Batch]{}, err
	}
	limit, knob := PinLimit(p.Limit, graph.Host(""))
	l.pool = newPool(l.dev, limit, knob, env.Degraded)
	env.Go(func() { l.pool.lock(ctx) })
	n := &pinner{env: env, link: l, pool: l.pool, back: make(chan struct{}, 1), most: ownSlabs}
	return graph.Transform[*item.Batch, *item.Batch]{Map: n.pin, Slabs: l.pool, Keep: n.keep, Close: l.pool.close}, nil
}

// ownSlabs is how many batches pin copies into, where it must: one being filled, one being copied, one between.
const ownSlabs = 3

// pinner is a running pin.
type pinner struct {
	env  *graph.Env
	link *link
	pool *pool
	back chan struct{} // a copy came back

	mu   sync.Mutex
	free []*item.Batch
	made int
	most int
}

// pin hands a batch on, or a copy of it.
func (p *pinner) pin(c *graph.Call, in *item.Batch) (*item.Batch, error) {
	if s := p.pool.find(in.Slab); s != nil && inOnePiece(in) {
		if err := s.wait(c.Context()); err != nil {
			return nil, err
		}
		in.Place = item.Pinned
		return in, nil
	}
	out, err := p.take(c, layoutOf(in))
	if err != nil {
		return nil, err
	}
	p.link.copied.Add(fill(out, in))
	out.Place = item.Pinned
	in.Release()
	return out, nil
}

// take gives a page-locked batch with room for n bytes.
func (p *pinner) take(c *graph.Call, n int) (out *item.Batch, err error) {
	for out == nil && err == nil {
		p.mu.Lock()
		switch {
		case len(p.free) > 0:
			out, p.free = p.free[len(p.free)-1], p.free[:len(p.free)-1]
		case p.made < p.most:
			p.made++
			out = &item.Batch{}
		}
		p.mu.Unlock()
		if out == nil {
			err = c.Room(func() error { return await(c.Context(), p.back) })
		}
	}
	if err != nil {
		return nil, err
	}
	if len(out.Slab) < n {
		var mem []byte
		if !p.env.Reserve(int64(n)) {
			err = fmt.Errorf("the memory budget leaves no room for a page-locked copy of a batch of %s: raise budget.memory, make the batch "+
				"smaller, or put pin where the stage that makes the batches can fill its memory", graph.SizeText(int64(n)))
		} else {
			mem, err = p.pool.Slab(n)
		}
		if err == nil {
			err = p.pool.find(mem).wait(c.Context())
		}
		if err != nil {
			p.give(out)
			return nil, err
		}
		out.Slab = mem // the smaller one before stays with the pool until the end
	}
	out.OnRelease(func() { p.give(out) })
	return out, nil
}

func await(ctx context.Context, c chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *pinner) give(b *item.Batch) {
	p.mu.Lock()
	p.free = append(p.free, b)
	p.mu.Unlock()
	p.wakes()
}

func (p *pinner) wakes() {
	select {
	case p.back <- struct{}{}:
	default:
	}
}

func (p *pinner) keep(n int) {
	p.mu.Lock()
	p.most += n
	p.mu.Unlock()
	p.pool.keep(n)
	p.wakes()
}

// layoutOf is the size that a batch has in one piece.
func layoutOf(in *item.Batch) (n int) {
	for i := range in.Columns {
		n += (len(in.Columns[i].Data) + item.Align - 1) &^ (item.Align - 1)
	}
	return n
}

// fill copies a batch, its columns into one slab. It says how many bytes of them there were.
func fill(out, in *item.Batch) (bytes int64) {
	label(out, in)
	at := 0
	for i := range in.Columns {
		from, to := &in.Columns[i], &out.Columns[i]
		end := at + len(from.Data)
		if to.Offset = at; len(from.Data) > 0 {
			to.Data = out.Slab[at:end:end]
			bytes += int64(copy(to.Data, from.Data))
		}
		at = (end + item.Align - 1) &^ (item.Align - 1)
	}
	return bytes
}

// label copies all but the numbers of a batch.
func label(out, in *item.Batch) {
	out.Epoch, out.Number, out.Handle = in.Epoch, in.Number, nil
	out.Rows = append(out.Rows[:0], in.Rows...)
	if len(out.Columns) != len(in.Columns) {
		out.Columns = make([]item.Column, len(in.Columns))
	}
	for i := range in.Columns {
		from, to := &in.Columns[i], &out.Columns[i]
		texts, blobs := to.Texts[:0], to.Blobs[:0]
		*to = item.Column{Name: from.Name, Kind: from.Kind, DType: from.DType, Shape: from.Shape, Offset: from.Offset}
		if from.Texts != nil {
			to.Texts = append(texts, from.Texts...)
		}
		if from.Blobs == nil {
			continue
		}
		if cap(blobs) < len(from.Blobs) {
			blobs = append(blobs[:cap(blobs)], make([][]byte, len(from.Blobs)-cap(blobs))...)
		}
		to.Blobs = blobs[:len(from.Blobs)]
		for j, b := range from.Blobs {
			to.Blobs[j] = append(to.Blobs[j][:0], b...)
		}
	}
}

// end is where the numbers of a batch end in its slab.
func end(b *item.Batch) (n int) {
	for i := range b.Columns {
		if c := &b.Columns[i]; len(c.Data) > 0 {
			n = max(n, c.Offset+len(c.Data))
		}
	}
	return n
}

// same says that a column lies in its batch's slab, where it says.
func same(b *item.Batch, c *item.Column) bool {
	return len(c.Data) == 0 || c.Offset < len(b.Slab) && unsafe.SliceData(c.Data) == unsafe.SliceData(b.Slab[c.Offset:])
}

// inOnePiece says that all columns of a batch lie in its slab.
func inOnePiece(b *item.Batch) bool {
	for i := range b.Columns {
		if !same(b, &b.Columns[i]) {
			return false
		}
	}
	return true
}
