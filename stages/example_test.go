package stages_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/stages"
)

// pictures is a source of five encoded pictures.
type pictures struct{}

func (pictures) Open(context.Context, *graph.Env) (graph.Reader[*item.Sample], error) {
	return graph.Reader[*item.Sample]{Len: 5, At: func(_ *graph.Call, i int64) (*item.Sample, error) {
		var b bytes.Buffer
		err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 40+int(i), 30)))
		s := item.NewSample(fmt.Sprintf("picture %d", i))
		s.Set("image", item.HeapBytes(b.Bytes()))
		s.Set("label", item.Int(i))
		return s, err
	}}, nil
}

func Example() {
	p := graph.New("flowers", graph.Seed(7))
	files := graph.From(p, "read", pictures{})
	pics := graph.Via(files, "decode", stages.DecodeImage{}, graph.Workers(2))
	crops := graph.Via(pics, "crop", stages.RandomResizedCrop{Size: 24})
	flips := graph.Via(crops, "flip", stages.RandomFlip{})
	norm := graph.Via(flips, "normalize", stages.Normalize{})
	out := graph.Output(graph.Via(norm, "collate", stages.Collate{Size: 3}), "train")

	run, err := p.Start(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for batch, err := range out.All(run) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(batch.Column("image").Shape, batch.Column("label").Int64s())
	}
	fmt.Println(run.Wait())
	// Output:
	// 3×3×24×24 [0 1 2]
	// 2×3×24×24 [3 4]
	// <nil>
}

func ExampleFilter() {
	p := graph.New("wide")
	pics := graph.Via(graph.From(p, "read", pictures{}), "decode", stages.DecodeImage{})
	wide := graph.Via(pics, "wide", stages.Filter{Field: "image", Measure: "width", Op: "ge", Value: []float64{42}})
	named := graph.Via(wide, "rename", stages.Rename{Fields: []string{"label"}, To: []string{"number"}})
	out := graph.Output(graph.Via(named, "select", stages.Select{Fields: []string{"number"}}), "take")

	run, err := p.Start(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for s, err := range out.All(run) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(s.Key(), s.Len(), s.Get("number").Int())
	}
	fmt.Println(run.Wait(), run.Snapshot().Stages[2].Filtered)
	// Output:
	// picture 2 1 2
	// picture 3 1 3
	// picture 4 1 4
	// <nil> 2
}
