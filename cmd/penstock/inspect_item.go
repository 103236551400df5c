package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/penstock-go/penstock/graph/item"
)

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

// describeBatch shows a batch from the outside in: its fields, then its rows with what each field has there.
func describeBatch(w io.Writer, b *item.Batch) {
	fmt.Fprintf(w, "key: %q\nrows: %d\nplace: %v\nbytes: %d\nfields\n", b.Key(), b.Len(), b.Place, b.Bytes())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
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
		fmt.Fprintf(t, "  %s\t%s\t%d bytes\t%s\n", c.Name, what, n, about)
	}
	_ = t.Flush()
	describeRows(w, b)
}

// shownRows is how many rows of a batch are listed.
const shownRows = 8

// describeRows lists the samples of a batch: key, place in the stream, what is odd about it; then its fields.
func describeRows(w io.Writer, b *item.Batch) {
	for i, r := range b.Rows[:min(len(b.Rows), shownRows)] {
		odd := ""
		if r.StandIn {
			odd += " (a stand-in)"
		}
		if r.Padding {
			odd += " (padding)"
		}
		fmt.Fprintf(w, "row %d: %.60q%s, %v\n", i, r.Key, odd, r.Pos)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for k := range b.Columns {
			c := &b.Columns[k]
			fmt.Fprintf(t, "  %s\t%s\t%s\n", c.Name, rowShape(c), rowNumbers(c, i))
		}
		_ = t.Flush()
	}
	if more := len(b.Rows) - shownRows; more > 0 {
		fmt.Fprintf(w, "and %d more rows\n", more)
	}
}

// rowShape is what a column has for each row.
func rowShape(c *item.Column) string {
	switch c.Kind {
	case item.KindImage, item.KindTensor:
		if c.Shape.Rank() > 0 {
			return fmt.Sprintf("%v %v", c.DType, item.MakeShape(c.Shape.Dims()[1:]...))
		}
	}
	return c.Kind.String()
}

// rowNumbers is what a column has in one row.
func rowNumbers(c *item.Column, i int) string {
	switch c.Kind {
	case item.KindText:
		return fmt.Sprintf("%.60q", c.Texts[i])
	case item.KindBytes:
		return fmt.Sprintf("%d bytes, %s", len(c.Blobs[i]), head(c.Blobs[i]))
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

// shownValues is how many numbers of a field are shown as they are.
const shownValues = 4

// summary is min, mean and max, and the first values; NaNs are counted and left out of the former.
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
	if len(xs) > 1 {
		s += "; first"
		for _, x := range xs[:min(len(xs), shownValues)] {
			s += fmt.Sprintf(" %.4g", float64(x))
		}
	}
	return s
}
