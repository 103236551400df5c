package stages_test

import (
	"fmt"
	"testing"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/graphtest"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/stages"
)

var clipSchema = item.Schema{Fields: []item.FieldSpec{
	{Name: "frames", Kind: item.KindTensor, Typed: true, DType: item.Uint8, Shape: item.MakeShape(-1, 4)}, label,
}}

// clip has i mod 4 frames.
func clip(c *graph.Call, i int64) (*item.Sample, error) {
	n := int(i % 4)
	b := c.Buffer(4 * n)
	for k := range b.Data {
		b.Data[k] = byte(int(i)*16 + k)
	}
	s := item.NewSample(fmt.Sprintf("clip-%d", i))
	s.Set("frames", item.Tensor(b, item.Uint8, item.MakeShape(n, 4)))
	s.Set("label", item.Int(i%5))
	return s, nil
}

func TestStagesOverFieldsConform(t *testing.T) {
	for name, c := range map[string]graphtest.StageCase[*item.Sample, *item.Sample]{
		"filter": {Stage: stages.Filter{Field: "label", Op: "ge", Value: []float64{2}},
			Refused: []toSample{stages.Filter{}, stages.Filter{Field: "label"}, stages.Filter{Field: "label", Op: "like", Value: []float64{1}}}},
		"filter, none": {Stage: stages.Filter{Field: "frames", Measure: "bytes", Op: "ge", Value: []float64{0}}},
		"select":       {Stage: stages.Select{Fields: []string{"label"}}, Refused: []toSample{stages.Select{}}},
		"rename": {Stage: stages.Rename{Fields: []string{"frames", "label"}, To: []string{"label", "frames"}},
			Refused: []toSample{stages.Rename{}, stages.Rename{Fields: []string{"label"}}}},
		"flat_map": {Stage: stages.FlatMap{Fields: []string{"frames"}}, Refused: []toSample{stages.FlatMap{}}},
	} {
		t.Run(name, func(t *testing.T) {
			c.Input, c.Schema = clip, clipSchema
			c.Bad, c.Wants = func(*graph.Call) (*item.Sample, error) { return item.NewSample("odd"), nil }, `is missing`
			graphtest.Stage(t, c)
		})
	}
}
