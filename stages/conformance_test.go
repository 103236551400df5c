package stages_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/graphtest"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/stages"
)

type (
	toSample = graph.Stage[*item.Sample, *item.Sample]
	toBatch  = graph.Stage[*item.Sample, *item.Batch]
)

var label = item.FieldSpec{Name: "label", Kind: item.KindInt, Typed: true, DType: item.Int64}

func imageSchema(h, w, ch int) item.Schema {
	return item.Schema{Fields: []item.FieldSpec{
		{Name: "image", Kind: item.KindImage, Typed: true, DType: item.Uint8, Shape: item.MakeShape(h, w, ch)}, label,
	}}
}

// picture is the i-th picture of a size, whose bytes tell where they stand.
func picture(c *graph.Call, i int64, h, w, ch int) *item.Sample {
	b := c.Buffer(h * w * ch)
	for j := range b.Data {
		b.Data[j] = byte(int(i)*31 + j*7 + j>>8*13)
	}
	s := item.NewSample(fmt.Sprintf("picture-%d", i))
	s.Set("image", item.Picture(b, h, w, ch))
	s.Set("label", item.Int(i%5))
	return s
}

func allOf(h, w, ch int) func(*graph.Call, int64) (*item.Sample, error) {
	return func(c *graph.Call, i int64) (*item.Sample, error) { return picture(c, i, h, w, ch), nil }
}

// ragged pictures have sizes of their own.
func ragged(c *graph.Call, i int64) (*item.Sample, error) {
	return picture(c, i, 9+int(i%4), 12+int(i*i%5), 3), nil
}

func noPicture(*graph.Call) (*item.Sample, error) {
	s := item.NewSample("odd")
	s.Set("label", item.Int(1))
	return s, nil
}

func TestDecodeImageConforms(t *testing.T) {
	names := []string{"photo.jpg", "progressive.jpg", "exif_6.jpg", "cmyk.jpg", "grey.png", "palette_transparent.png", "interlaced.gif", "lossy_29x18.webp"}
	var files [][]byte
	for _, n := range names {
		data, err := os.ReadFile(filepath.Join("testdata", "pictures", n))
		require.NoError(t, err)
		files = append(files, data)
	}
	graphtest.Stage(t, graphtest.StageCase[*item.Sample, *item.Sample]{
		Stage: stages.DecodeImage{},
		N:     int64(len(files)),
		Input: func(c *graph.Call, i int64) (*item.Sample, error) {
			b := c.Buffer(len(files[i]))
			copy(b.Data, files[i])
			s := item.NewSample(names[i])
			s.Set("image", item.Bytes(b))
			s.Set("label", item.Int(i))
			return s, nil
		},
		Schema:  item.Schema{Fields: []item.FieldSpec{{Name: "image", Kind: item.KindBytes}, label}},
		Refused: []toSample{stages.DecodeImage{MaxPixels: -1}, stages.DecodeImage{MaxPixels: 1<<30 + 1}},
		Bad: func(c *graph.Call) (*item.Sample, error) {
			s := item.NewSample("cut.jpg")
			b := c.Buffer(len(files[0]) / 2)
			copy(b.Data, files[0])
			s.Set("image", item.Bytes(b))
			return s, nil
		},
		Wants: "cut.jpg",
	})
}

func TestTransformsConform(t *testing.T) {
	for name, c := range map[string]graphtest.StageCase[*item.Sample, *item.Sample]{
		"resize, shorter side": {Stage: stages.Resize{Size: []int{7}}, Input: ragged, Schema: imageSchema(-1, -1, 3),
			Refused: []toSample{stages.Resize{}, stages.Resize{Size: []int{-1}}, stages.Resize{Size: []int{1, 2, 3}}}},
		"resize, exact": {Stage: stages.Resize{Size: []int{7, 5}}, Input: ragged, Schema: imageSchema(-1, -1, 3)},
		"center_crop": {Stage: stages.CenterCrop{Size: []int{6, 8}}, Input: ragged, Schema: imageSchema(-1, -1, 3),
			Refused: []toSample{stages.CenterCrop{}, stages.CenterCrop{Size: []int{0, 1}}}},
		"random_resized_crop": {Stage: stages.RandomResizedCrop{Size: 6}, Input: ragged, Schema: imageSchema(-1, -1, 3),
			Refused: []toSample{
				stages.RandomResizedCrop{Size: -1}, stages.RandomResizedCrop{Scale: []float64{0.5}},
				stages.RandomResizedCrop{Scale: []float64{0.5, 2}}, stages.RandomResizedCrop{Scale: []float64{0.9, 0.1}},
				stages.RandomResizedCrop{Ratio: []float64{2, 1}}, stages.RandomResizedCrop{Ratio: []float64{math.NaN(), 1}},
			}},
		"random_flip": {Stage: stages.RandomFlip{}, Input: allOf(5, 6, 3), Schema: imageSchema(5, 6, 3),
			Refused: []toSample{stages.RandomFlip{Probability: -0.1}, stages.RandomFlip{Probability: 1.1}, stages.RandomFlip{Probability: math.NaN()}}},
		"normalize": {Stage: stages.Normalize{}, Input: allOf(5, 6, 3), Schema: imageSchema(5, 6, 3),
			Refused: []toSample{stages.Normalize{Std: []float64{0}}, stages.Normalize{Mean: []float64{1, 2, 3, 4, 5}}, stages.Normalize{Mean: []float64{1, 2}, Std: []float64{1, 2, 3}}}},
	} {
		t.Run(name, func(t *testing.T) {
			c.Bad, c.Wants = noPicture, `"image"`
			graphtest.Stage(t, c)
		})
	}
}

func TestDelayConforms(t *testing.T) {
	graphtest.Stage(t, graphtest.StageCase[*item.Sample, *item.Sample]{
		Stage: stages.Delay[*item.Sample]{Time: graph.UniformTime(time.Microsecond, 50*time.Microsecond)},
		Input: allOf(3, 3, 1), Schema: imageSchema(3, 3, 1),
		Refused: []toSample{stages.Delay[*item.Sample]{Time: graph.Fixed(-1)}, stages.Delay[*item.Sample]{Mode: "doze"}},
	})
}

func TestCollateConforms(t *testing.T) {
	for name, c := range map[string]stages.Collate{
		"a short last one": {Size: 4}, "without it": {Size: 4, DropLast: true}, "of one": {Size: 1}, "larger than an epoch": {Size: 64},
	} {
		t.Run(name, func(t *testing.T) {
			graphtest.Stage(t, graphtest.StageCase[*item.Sample, *item.Batch]{
				Stage: c, N: 13, Input: allOf(3, 4, 3), Schema: imageSchema(3, 4, 3), Refused: []toBatch{stages.Collate{Size: -1}},
			})
		})
	}
}
