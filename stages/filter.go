package stages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
)

var _ = kinds.Add(registry.Stage[Filter](registry.Meta{
	Name: "filter", Summary: "Lets those samples pass of which one field compares as asked.",
	Example: "filter: {field: image, measure: width, op: ge, value: 64}",
}, (*Filter).Bind))

// Filter lets the samples pass whose Field compares with Value, or Text, by Op: eq (equal to one of them), ne (to none of
// them), lt, le, gt, ge (to the one number). Measure is what of the field is compared: its value, a number or a text; its
// bytes; the height, width or channels of a decoded picture; the length of a tensor's first axis. The others are released
// and counted as filtered. Whole numbers are compared exactly, also beyond 2^53. Of NaN only ne is true. A sample without
// the field, or with one that has no such measure, fails.
//
// Any number of workers; order does not matter. Cost: some nanoseconds.
type Filter struct {
	Field   string
	Measure string
	Op      string
	Value   []float64
	Text    []string
}

// The measures and comparisons of a filter.
const (
	measureValue = "value"
	opEqual      = "eq"
	opDiffers    = "ne"
)

// Bind names the fields.
func (f *Filter) Bind(b *registry.Fields) {
	b.Text(&f.Field, "field", "", "the field that is looked at", registry.Required())
	b.Choice(&f.Measure, "measure", measureValue, "what of the field is compared", measureValue, "bytes", "height", "width", "channels", "length")
	b.Choice(&f.Op, "op", opEqual, "how it is compared: equal to one of the values, to none of them, less, at most, more, at least",
		opEqual, opDiffers, "lt", "le", "gt", "ge")
	b.Floats(&f.Value, "value", nil, "a number; for eq and ne also a list")
	b.Texts(&f.Text, "text", nil, "a text or a list of texts, instead of value")
}

// Check refuses settings that are out of range or do not go together.
func (f Filter) Check() error {
	errs := []error{registry.Check(&f, (*Filter).Bind)}
	f = registry.Filled(f, (*Filter).Bind)
	wrong := func(field, msg string) {
		errs = append(errs, &graph.FieldError{Field: field, Code: "field_value", Msg: msg})
	}
	list := f.Op == opEqual || f.Op == opDiffers
	switch {
	case len(f.Value) == 0 && len(f.Text) == 0:
		errs = append(errs, &graph.FieldError{Field: "value", Code: "field_missing", Msg: "value is missing, or text"})
	case len(f.Value) > 0 && len(f.Text) > 0:
		wrong("text", "text and value: give one of them")
	case len(f.Text) > 0 && f.Measure != measureValue:
		wrong("text", fmt.Sprintf("text: %s is a number", f.Measure))
	case len(f.Text) > 0 && !list:
		wrong("op", "op of a text must be eq or ne, got "+f.Op)
	case len(f.Value) > 1 && !list:
		wrong("value", fmt.Sprintf("value must be one number for %s, got %d", f.Op, len(f.Value)))
	}
	return errors.Join(errs...)
}

// Schema keeps the fields.
func (f Filter) Schema(in item.Schema) (item.Schema, error) {
	f = registry.Filled(f, (*Filter).Bind)
	return in, in.Needs(f.Field, f.insert(), f.kinds()...)
}

// insert is the stage that makes what is looked at.
func (f *Filter) insert() string {
	if f.Measure == "height" || f.Measure == "width" || f.Measure == "channels" {
		return "decode_image"
	}
	return ""
}

func (f *Filter) kinds() []item.Kind {
	switch f.Measure {
	case "height", "width", "channels":
		return []item.Kind{item.KindImage}
	case "length":
		return []item.Kind{item.KindTensor}
	case "bytes":
		return []item.Kind{item.KindBytes, item.KindText, item.KindImage, item.KindTensor}
	}
	if len(f.Text) > 0 {
		return []item.Kind{item.KindText}
	}
	return []item.Kind{item.KindInt, item.KindFloat}
}

// Drops says that there is not one output of each input.
func (Filter) Drops() bool { return true }

// Open makes the transform.
func (f Filter) Open(context.Context, *graph.Env) (graph.Transform[*item.Sample, *item.Sample], error) {
	f = registry.Filled(f, (*Filter).Bind)
	kinds := f.kinds()
	return graph.Transform[*item.Sample, *item.Sample]{Choose: func(_ *graph.Call, in *item.Sample) (*item.Sample, bool, error) {
		v := in.Get(f.Field)
		if v == nil {
			_, err := in.Need(f.Field, kinds[0])
			return nil, false, err
		}
		if !slices.Contains(kinds, v.Kind()) {
			return nil, false, fmt.Errorf("field %q is %s, wanted %s", f.Field, v.Describe(), kindWords(kinds))
		}
		keep, err := f.keeps(v)
		if err == nil && !keep {
			in.Release()
		}
		return in, keep, err
	}}, nil
}

func kindWords(kinds []item.Kind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = k.String()
	}
	return strings.Join(words, " or ")
}

func (f *Filter) keeps(v *item.Value) (bool, error) {
	if len(f.Text) > 0 {
		return slices.Contains(f.Text, v.Text()) == (f.Op == opEqual), nil
	}
	whole := int64(0)
	switch dims := v.Shape(); f.Measure {
	case measureValue:
		if v.Kind() == item.KindFloat {
			return f.compares(func(x float64) int { return compareFloats(v.Float(), x) }), nil
		}
		whole = v.Int()
	case "bytes":
		whole = v.Bytes()
	case "height", "length":
		if dims.Rank() == 0 {
			return false, fmt.Errorf("field %q is a tensor without axes, which has no length", f.Field)
		}
		whole = int64(dims.Dim(0))
	case "width":
		whole = int64(dims.Dim(1))
	case "channels":
		whole = int64(dims.Dim(2))
	}
	return f.compares(func(x float64) int { return compareWhole(whole, x) }), nil
}

const unordered = 2

func compareFloats(a, b float64) int {
	if math.IsNaN(a) {
		return unordered
	}
	return cmp.Compare(a, b)
}

// compareWhole compares without rounding the whole number.
func compareWhole(a int64, b float64) int {
	switch {
	case b >= 1<<63:
		return -1
	case b < -(1 << 63):
		return 1
	}
	floor := math.Floor(b)
	if c := cmp.Compare(a, int64(floor)); c != 0 || floor == b {
		return c
	}
	return -1
}

func (f *Filter) compares(with func(float64) int) bool {
	switch f.Op {
	case opEqual, opDiffers:
		return slices.ContainsFunc(f.Value, func(x float64) bool { return with(x) == 0 }) == (f.Op == opEqual)
	}
	switch c := with(f.Value[0]); f.Op {
	case "lt":
		return c == -1
	case "le":
		return c == -1 || c == 0
	case "gt":
		return c == 1
	default:
		return c == 1 || c == 0
	}
}
