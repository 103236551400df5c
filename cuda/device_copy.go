package cuda

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

// DeviceCopy copies batches to a device. It hands a batch on as soon as its copy has been ordered: the consumer's stream
// waits for it, the host does not (see [item.DeviceHandle]). What is not numbers (texts, bytes, keys) stays on the host.
//
// Copies run on a stream of their own into Depth slots, which have fixed addresses. A slot is filled again after what the
// consumer's stream did with it; with two slots the copy of a batch runs beside the work on the one before, with one
// they take turns. The time of the stage in reports is that of the copies themselves, from events on their stream.
//
// A batch that the consumer keeps makes room for one more. Cost on the host, with page-locked memory: ten calls of the
// driver a batch, and 25 more where the consumer enters and leaves it (BenchmarkCalls of package driver, with a stand-in
// for the library); without pin above, each copy holds the host up and is counted (staged_copies).
type DeviceCopy struct {
	Device string
	Depth  int
	// Backends open real devices, the first that can. A spec's device_copy has those of the program that runs it.
	Backends []Backend
}

// Bind names the fields.
func (c *DeviceCopy) Bind(f *registry.Fields) {
	f.Text(&c.Device, "device", Auto, `"auto" is the first real device, "cuda:0" a certain one, "emu:pcie3x16", "emu:pcie4x16", "emu:pcie5x16" and "emu:c2c" are emulated`)
	f.Int(&c.Depth, "depth", 2, "batches that the device has room for", registry.Min(1), registry.Max(64))
}

// String leaves the back ends out: they belong to the program and not to the pipeline.
func (c DeviceCopy) String() string { return fmt.Sprintf("{Device:%s Depth:%d}", c.Device, c.Depth) }

// Check refuses settings that are out of range.
func (c DeviceCopy) Check() error {
	errs := registry.Check(&c, (*DeviceCopy).Bind)
	if c.Device == "" {
		return errs
	}
	if _, _, err := parse(c.Device); err != nil {
		errs = errors.Join(errs, &graph.FieldError{Field: "device", Code: "field_value", Msg: err.Error()})
	}
	return errs
}

// Kind is the word of a spec.
func (DeviceCopy) Kind() string { return "device_copy" }

// Load is waiting: the device copies.
func (DeviceCopy) Load() graph.Load { return graph.Wait }

// Traits says how it works.
func (DeviceCopy) Traits() graph.Traits {
	return graph.Traits{Serial: true, Releases: true, Copies: true, Reports: true}
}

// Schema is that of the input, on the device.
func (DeviceCopy) Schema(in item.Schema) (item.Schema, error) {
	if !in.Batch && !in.Open {
		return in, errors.New("wanted batches, found samples; put collate before it")
	}
	in.Place = item.Device
	return in, nil
}

// Open opens the device.
func (c DeviceCopy) Open(ctx context.Context, env *graph.Env) (graph.Transform[*item.Batch, *item.Batch], error) {
	c = registry.Filled(c, (*DeviceCopy).Bind)
	var none graph.Transform[*item.Batch, *item.Batch]
	l, err := linkOf(env, c)
	if err != nil {
		return none, err
	}
	p, err := newCopier(ctx, env, l, c.Depth)
	if err != nil {
		return none, err
	}
	if !env.Sync {
		env.Go(p.reap)
	}
	return graph.Transform[*item.Batch, *item.Batch]{Map: p.copy, Keep: p.keep, Devices: p.stats, Close: p.close}, nil
}
