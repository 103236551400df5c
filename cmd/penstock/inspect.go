package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/spec"
)

func (a *app) inspect(args []string) int {
	f := newFlags("inspect")
	var set texts
	at := f.String("at", "", "")
	root := f.String("root", "", "")
	f.Var(&set, "set", "")
	rest, code, done := a.begin(f, args)
	switch {
	case done:
		return code
	case len(rest) != 1:
		return a.usage("inspect", fmt.Sprintf("wanted one spec, got %d", len(rest)))
	case *at == "":
		return a.usage("inspect", "--at ID is missing")
	}
	if err := checkRoot(*root); err != nil {
		return a.usage("inspect", err.Error())
	}
	s, d := spec.Load(rest[0], a.in, a.catalog, spec.Options{Set: set, Upto: *at, Root: *root})
	for _, x := range d {
		fmt.Fprintln(a.err, x)
	}
	if s == nil {
		return exitUsage
	}
	s.Pipeline.With(graph.Sync(), graph.NoFuse())
	if in, ok := registry.PortOf[*item.Sample](s.Port); ok {
		return look(a, s, *at, in, describeSample)
	}
	in, _ := registry.PortOf[*item.Batch](s.Port)
	return look(a, s, *at, in, describeBatch)
}

// look runs the pipeline in one goroutine until the first item has come.
func look[T any](a *app, s *spec.Spec, at string, in graph.Port[T], show func(io.Writer, T)) int {
	out := graph.Output(in, freeID(at))
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	g := &guard{err: a.err, cancel: cancel}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stop)
	wg.Go(func() { g.watch(a.signals, stop) })
	limitMemory(s.Memory)
	run, err := s.Pipeline.Start(ctx)
	if err != nil {
		return a.fail(err)
	}
	found := false
	for x, ierr := range out.All(run) {
		if err = ierr; err == nil {
			found = true
			schema, _ := s.Pipeline.Schema(at)
			fmt.Fprintf(a.out, "stage %q makes %s\nschema: %v\n", at, s.Port.Carries, schema)
			show(a.out, x)
		}
		break
	}
	if werr := run.Wait(); err == nil {
		err = werr
	}
	for _, w := range run.Snapshot().Warnings {
		fmt.Fprintf(a.err, "warning: %s\n", plain(w))
	}
	switch code := g.code(); {
	case code != exitDone:
		return code
	case err != nil:
		return a.fail(err)
	case !found:
		return a.fail(fmt.Errorf("stage %q makes nothing: %w", at, graph.ErrEmpty))
	}
	return exitDone
}

// freeID is an id that no stage of a spec bears, whose ids end at 64 characters.
func freeID(at string) string { return "inspect_" + strings.Repeat("x", 64) + "_" + at }

func describeSample(w io.Writer, s *item.Sample) {
	fmt.Fprintf(w, "key: %q\nplace: %v\nbytes: %d\n", s.Key(), item.Host, s.Bytes())
	t := newTable(w)
	for i := range s.Len() {
		name, v := s.Field(i)
		fmt.Fprintf(t, "  %s\t%s\t%d\t%s\n", name, v.Describe(), v.Bytes(), valueNumbers(v))
	}
	_ = t.Flush()
}

func newTable(w io.Writer) *tabwriter.Writer {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  field\tvalue\tbytes\tcontent")
	return t
}

func valueNumbers(v *item.Value) string {
	switch v.Kind() {
	case item.KindInt:
		return fmt.Sprint(v.Int())
	case item.KindFloat:
		return fmt.Sprint(v.Float())
	case item.KindText:
		return fmt.Sprintf("%.60q", v.Text())
	case item.KindBytes:
		return head(v.Data())
	case item.KindImage:
		return summary(v.Data())
	case item.KindTensor:
		switch v.DType() {
		case item.Uint8:
			return summary(v.Data())
		case item.Int32:
			return summary(v.Int32s())
		case item.Int64:
			return summary(v.Int64s())
		case item.Float32:
			return summary(v.Float32s())
		case item.Float64:
			return summary(v.Float64s())
		}
	}
	return ""
}

func describeBatch(w io.Writer, b *item.Batch) {
	fmt.Fprintf(w, "key: %q\nrows: %d\nplace: %v\nbytes: %d\n", b.Key(), b.Len(), b.Place, b.Bytes())
	t := newTable(w)
	for i := range b.Columns {
		c := &b.Columns[i]
		n, about := len(c.Data), ""
		what := fmt.Sprintf("%v %v %v", c.Kind, c.DType, c.Shape)
		switch c.Kind {
		case item.KindText:
			what = "text"
			about = fmt.Sprintf("first %.60q", c.Texts[0])
			for _, x := range c.Texts {
				n += len(x)
			}
		case item.KindBytes:
			what = "bytes"
			about = "first " + head(c.Blobs[0])
			for _, x := range c.Blobs {
				n += len(x)
			}
		default:
			about = columnNumbers(c)
		}
		fmt.Fprintf(t, "  %s\t%s\t%d\t%s\n", c.Name, what, n, about)
	}
	_ = t.Flush()
	describeRows(w, b)
}

// shownRows is how many rows of a batch are listed.
const shownRows = 8

// describeRows lists the samples of a batch: key, place in the stream, what is odd about it, and its numbers.
func describeRows(w io.Writer, b *item.Batch) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "  row\tkey\tposition")
	for i := range b.Columns {
		if c := &b.Columns[i]; c.Kind != item.KindBytes {
			fmt.Fprintf(t, "\t%s", c.Name)
		}
	}
	fmt.Fprintln(t)
	for i, r := range b.Rows[:min(len(b.Rows), shownRows)] {
		key := fmt.Sprintf("%.60q", r.Key)
		if r.StandIn {
			key += " (a stand-in)"
		}
		if r.Padding {
			key += " (padding)"
		}
		fmt.Fprintf(t, "  %d\t%s\t%v", i, key, r.Pos)
		for k := range b.Columns {
			if c := &b.Columns[k]; c.Kind != item.KindBytes {
				fmt.Fprintf(t, "\t%s", rowNumbers(c, i))
			}
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush()
	if more := len(b.Rows) - shownRows; more > 0 {
		fmt.Fprintf(w, "  and %d more rows\n", more)
	}
}

// rowNumbers is what a column has in one row.
func rowNumbers(c *item.Column, i int) string {
	if c.Kind == item.KindText {
		return fmt.Sprintf("%.20q", c.Texts[i])
	}
	n := c.RowBytes()
	if n == 0 {
		return "-" // it lies on a device, or holds nothing
	}
	one := item.Column{Kind: c.Kind, DType: c.DType, Shape: c.Shape, Data: c.Data[i*n : (i+1)*n]}
	switch c.Kind {
	case item.KindInt:
		return fmt.Sprint(one.Int64s()[0])
	case item.KindFloat:
		return fmt.Sprintf("%.6g", one.Float64s()[0])
	}
	return columnNumbers(&one)
}

func columnNumbers(c *item.Column) string {
	switch c.DType {
	case item.Int32:
		return summary(c.Int32s())
	case item.Int64:
		return summary(c.Int64s())
	case item.Float32:
		return summary(c.Float32s())
	case item.Float64:
		return summary(c.Float64s())
	}
	return summary(c.Data)
}

func head(b []byte) string {
	if len(b) > 8 {
		return fmt.Sprintf("begins with % x", b[:8])
	}
	return fmt.Sprintf("% x", b)
}

// summary is min, mean and max; NaNs are counted and left out.
func summary[N uint8 | int32 | int64 | float32 | float64](xs []N) string {
	least, most, sum, n := math.Inf(1), math.Inf(-1), 0.0, 0
	for _, x := range xs {
		f := float64(x)
		if math.IsNaN(f) {
			continue
		}
		least, most, sum, n = min(least, f), max(most, f), sum+f, n+1
	}
	s := "no numbers"
	if n > 0 {
		s = fmt.Sprintf("min %.6g, mean %.6g, max %.6g", least, sum/float64(n), most)
	}
	if nan := len(xs) - n; nan > 0 {
		s += fmt.Sprintf(", %d NaN", nan)
	}
	return s
}
