package stages

import (
	"bytes"
	"hash/crc32"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/stages/resize"
)

// ramp is a picture in which every byte tells where it stands.
func ramp(h, w, ch int) item.Value {
	b := item.Heap.Take(h * w * ch)
	for i := range b.Data {
		b.Data[i] = byte(i*7 + i>>8*13)
	}
	return item.Picture(b, h, w, ch)
}

type sampleStage = graph.Transform[*item.Sample, *item.Sample]

func apply(t testing.TB, w sampleStage, v item.Value, place int64) *item.Value {
	t.Helper()
	out, err := w.Map(call(place), sample("x", "image", v, "label", item.Int(1)))
	require.NoError(t, err)
	require.Equal(t, 2, out.Len())
	return out.Get("image")
}

func TestResizeSizesAreThoseOfTorchvision(t *testing.T) {
	for _, c := range []struct {
		size []int
		h, w int
		want [2]int
	}{
		{[]int{256}, 375, 500, [2]int{256, 341}}, {[]int{256}, 500, 375, [2]int{341, 256}}, {[]int{20}, 7, 7, [2]int{20, 20}},
		{[]int{10}, 333, 1000, [2]int{10, 30}}, {[]int{30, 40}, 9, 9, [2]int{30, 40}}, {[]int{5}, 1, 100, [2]int{5, 500}},
	} {
		v := apply(t, worker(t, Resize{Size: c.size}), ramp(c.h, c.w, 3), 0)
		assert.Equal(t, item.MakeShape(c.want[0], c.want[1], 3), v.Shape(), "%v of %d×%d", c.size, c.h, c.w)
	}
}

func TestWhatHasItsSizeIsHandedOnAsItIs(t *testing.T) {
	for name, w := range map[string]sampleStage{
		"resize": worker(t, Resize{Size: []int{8}}), "exact": worker(t, Resize{Size: []int{8, 9}}),
		"center_crop": worker(t, CenterCrop{Size: []int{8, 9}}),
	} {
		v := ramp(8, 9, 3)
		at := &v.Data()[0]
		got := apply(t, w, v, 0)
		assert.Same(t, at, &got.Data()[0], name)
	}
}

func TestResizeRefusesAResultWithoutBounds(t *testing.T) {
	_, err := worker(t, Resize{Size: []int{512}}).Map(call(0), sample("x", "image", ramp(1, 1<<20, 1)))
	assert.ErrorContains(t, err, "more than 100000000")
	_, err = worker(t, Resize{Size: []int{2, 2}}).Map(call(0), sample("x", "image", ramp(1, 1<<20+1, 1)))
	assert.ErrorContains(t, err, "a side of more than 1048576 is not scaled")
	assert.ErrorContains(t, Resize{}.Check(), "size")
	assert.ErrorContains(t, Resize{Size: []int{0}}.Check(), "size")
	assert.ErrorContains(t, Resize{Size: []int{1, 2, 3}}.Check(), "size")
}

func TestCenterCropCutsWhereTorchvisionDoes(t *testing.T) {
	cut := func(h, w int, size ...int) (y, x int) {
		src := ramp(h, w, 3)
		want := bytes.Clone(src.Data())
		v := apply(t, worker(t, CenterCrop{Size: size}), src, 0)
		for y = range h {
			for x = range w {
				if ok := matches(v, want, y, x, w, h); ok {
					return y, x
				}
			}
		}
		return -1, -1
	}
	// Python's round(0.5) is 0, round(1.5) is 2.
	for _, c := range [][6]int{{9, 9, 5, 5, 2, 2}, {8, 8, 7, 7, 0, 0}, {10, 8, 7, 5, 2, 2}, {10, 12, 5, 7, 2, 2}} {
		y, x := cut(c[0], c[1], c[2], c[3])
		assert.Equal(t, [2]int{c[4], c[5]}, [2]int{y, x}, "%v", c)
	}
}

func matches(v *item.Value, src []byte, y, x, w, h int) bool {
	ch, cw := v.Shape().Dim(0), v.Shape().Dim(1)
	if y+ch > h || x+cw > w {
		return false
	}
	for r := range ch {
		if !bytes.Equal(v.Data()[r*cw*3:(r+1)*cw*3], src[((y+r)*w+x)*3:][:cw*3]) {
			return false
		}
	}
	return true
}

func TestCenterCropPadsSmallPicturesWithBlack(t *testing.T) {
	v := apply(t, worker(t, CenterCrop{Size: []int{5, 4}}), picture(2, 7, 1, 9), 0)
	assert.Equal(t, item.MakeShape(5, 4, 1), v.Shape())
	assert.Equal(t, []byte{0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0}, v.Data())
	v = apply(t, worker(t, CenterCrop{Size: []int{2, 4}}), picture(2, 1, 1, 9), 0)
	assert.Equal(t, []byte{0, 9, 0, 0, 0, 9, 0, 0}, v.Data())
}

func TestRandomResizedCropKeepsToScaleAndRatio(t *testing.T) {
	r := RandomResizedCrop{Scale: []float64{0.2, 0.5}, Ratio: []float64{0.5, 2}}
	low, high := logarithm(0.5), logarithm(2)
	const w, h, n = 640, 480, 4000
	meanArea, wide := 0.0, 0
	seen := map[[4]int]bool{}
	for i := range int64(n) {
		x, y, cw, ch := r.rectangle(call(i).Rand(), w, h, low, high)
		require.True(t, x >= 0 && y >= 0 && x+cw <= w && y+ch <= h)
		area, ratio := float64(cw*ch)/(w*h), float64(cw)/float64(ch)
		require.True(t, area > 0.198 && area < 0.502, "area %v", area)
		require.True(t, ratio > 0.49 && ratio < 2.04, "ratio %v", ratio)
		meanArea += area / n
		if ratio > 1 {
			wide++
		}
		seen[[4]int{x, y, cw, ch}] = true
	}
	assert.InDelta(t, 0.35, meanArea, 0.01)
	assert.InDelta(t, n/2, wide, n/10, "ratios are uniform in their logarithm; those too wide to fit are drawn again")
	assert.Greater(t, len(seen), n*9/10)
}

func TestRandomResizedCropFallsBackToTheMiddle(t *testing.T) {
	r := RandomResizedCrop{Scale: []float64{1, 1}, Ratio: []float64{0.75, 4. / 3}}
	low, high := logarithm(0.75), logarithm(4./3)
	box := func(w, h int) [4]int {
		x, y, cw, ch := r.rectangle(call(0).Rand(), w, h, low, high)
		return [4]int{x, y, cw, ch}
	}
	assert.Equal(t, [4]int{433, 0, 133, 100}, box(1000, 100), "too wide: as wide as 4:3 allows")
	assert.Equal(t, [4]int{0, 433, 100, 133}, box(100, 1000), "too high")
	assert.Equal(t, [4]int{0, 0, 1, 1}, box(1, 1))
}

func TestRandomResizedCropIsACropAndAResize(t *testing.T) {
	c := RandomResizedCrop{Size: 32}
	v := ramp(60, 90, 3)
	src := bytes.Clone(v.Data())
	got := apply(t, worker(t, c), v, 5)
	c = RandomResizedCrop{Size: 32, Scale: []float64{0.08, 1}, Ratio: []float64{3. / 4, 4. / 3}}
	x, y, w, h := c.rectangle(call(5).Rand(), 90, 60, logarithm(3./4), logarithm(4./3))
	cropped := make([]byte, 0, w*h*3)
	for r := range h {
		cropped = append(cropped, src[((y+r)*90+x)*3:][:w*3]...)
	}
	want := make([]byte, 32*32*3)
	var s resize.Scaler
	s.Bilinear(resize.Packed(want, 32, 32, 3), resize.Packed(cropped, w, h, 3))
	assert.Equal(t, want, got.Data())
}

func TestRandomStagesDependOnThePlaceOnly(t *testing.T) {
	for name, make := range map[string]func() sampleStage{
		"random_resized_crop": func() sampleStage { return worker(t, RandomResizedCrop{Size: 16}) },
		"random_flip":         func() sampleStage { return worker(t, RandomFlip{}) },
	} {
		one, other, sums := make(), make(), map[uint32]bool{}
		for place := range int64(20) {
			a := crc32.ChecksumIEEE(apply(t, one, ramp(40, 30, 3), place).Data())
			b := crc32.ChecksumIEEE(apply(t, other, ramp(40, 30, 3), place).Data())
			assert.Equal(t, a, b, name)
			sums[a] = true
		}
		assert.Greater(t, len(sums), 1, name)
	}
}

// The bytes of the whole chain, on every processor.
func TestTheChainsBytesNeverChange(t *testing.T) {
	chain := []sampleStage{worker(t, DecodeImage{}), worker(t, RandomResizedCrop{Size: 24}), worker(t, RandomFlip{}), worker(t, Normalize{})}
	sum := uint32(0)
	for place := range int64(40) {
		s := sample("x", "image", item.HeapBytes(testFile(t, []string{"photo.jpg", "rgb.png", "exif_6.jpg"}[place%3])))
		for _, w := range chain {
			var err error
			s, err = w.Map(call(place), s)
			require.NoError(t, err)
		}
		for _, f := range s.Get("image").Float32s() {
			u := math.Float32bits(f)
			sum = crc32.Update(sum, crc32.IEEETable, []byte{byte(u), byte(u >> 8), byte(u >> 16), byte(u >> 24)})
		}
	}
	assert.Equal(t, uint32(0x88a0e5e1), sum)
}

func TestExponentialAndLogarithmAreGood(t *testing.T) {
	for x := -5.0; x <= 5; x += 0.01 {
		assert.InEpsilon(t, math.Exp(x), exponential(x), 1e-12)
		assert.InDelta(t, x, logarithm(math.Exp(x)), 1e-12)
	}
	assert.EqualValues(t, 0, logarithm(1))
}

func TestFlipMirrorsEveryRow(t *testing.T) {
	for _, ch := range []int{1, 3, 4} {
		for _, w := range []int{1, 2, 5, 8} {
			v := ramp(3, w, ch)
			want := bytes.Clone(v.Data())
			got := apply(t, worker(t, RandomFlip{Probability: 1}), v, 0)
			for y := range 3 {
				for x := range w {
					assert.Equal(t, want[(y*w+x)*ch:][:ch], got.Data()[(y*w+w-1-x)*ch:][:ch], "%d channels, width %d", ch, w)
				}
			}
		}
	}
}

func TestFlipLeavesSharedMemoryAlone(t *testing.T) {
	w := worker(t, RandomFlip{Probability: 1})
	own := ramp(2, 3, 3)
	at := &own.Data()[0]
	assert.Same(t, at, &apply(t, w, own, 0).Data()[0], "in place")

	shared := ramp(2, 3, 3)
	before := bytes.Clone(shared.Data())
	shared.Buffer().Retain()
	got := apply(t, w, shared, 0)
	assert.Equal(t, before, shared.Data())
	assert.NotEqual(t, before, got.Data())
}

func TestFlipTakesItsShare(t *testing.T) {
	w := worker(t, RandomFlip{Probability: 0.25})
	n := 0
	for place := range int64(4000) {
		v := item.Lend([]byte{1, 2}, nil)
		if apply(t, w, item.Picture(v, 1, 2, 1), place).Data()[0] == 2 {
			n++
		}
	}
	assert.InDelta(t, 1000, n, 120)
	assert.ErrorContains(t, RandomFlip{Probability: 1.5}.Check(), "probability")
	assert.NoError(t, RandomFlip{}.Check())
}

func TestNormalizeIsPyTorchsToTheBit(t *testing.T) {
	v := apply(t, worker(t, Normalize{}), ramp(2, 3, 3), 0)
	assert.Equal(t, item.KindTensor, v.Kind())
	assert.Equal(t, item.MakeShape(3, 2, 3), v.Shape())
	src := ramp(2, 3, 3)
	mean, std := []float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}
	for i := range 6 {
		for c := range 3 {
			want := (float64(src.Data()[3*i+c])/255 - mean[c]) / std[c]
			assert.InDelta(t, want, v.Float32s()[c*6+i], 1e-6)
		}
	}
	// numpy: (float32(v)/float32(255) - float32(mean)) / float32(std), as bits
	for _, k := range []struct {
		c, v int
		bits uint32
	}{{0, 0, 0xc0078bbd}, {0, 255, 0x400fee1d}, {1, 128, 0x3e521b48}, {2, 1, 0xbfe4bcea}} {
		assert.Equal(t, k.bits, math.Float32bits(imagenet.tables()[k.c][k.v]), "channel %d, value %d", k.c, k.v)
	}
}

var imagenet = &Normalize{Mean: []float64{0.485, 0.456, 0.406}, Std: []float64{0.229, 0.224, 0.225}}

func TestNormalizeTakesOneNumberForAllChannels(t *testing.T) {
	for _, ch := range []int{1, 3, 4} {
		v := apply(t, worker(t, Normalize{Mean: []float64{0.5}, Std: []float64{0.5}}), picture(1, 2, ch, 255), 0)
		for _, x := range v.Float32s() {
			assert.EqualValues(t, 1, x)
		}
	}
	_, err := worker(t, Normalize{}).Map(call(0), sample("x", "image", picture(1, 1, 1, 0)))
	assert.ErrorContains(t, err, "mean and std are for 3 channels, the picture has 1")
	assert.ErrorContains(t, Normalize{Mean: []float64{1, 2}, Std: []float64{1, 2, 3}}.Check(), "std has 3 numbers, mean has 2")
	assert.ErrorContains(t, Normalize{Std: []float64{0, 1, 1}}.Check(), "std")
}

func TestSchemasFollowTheChain(t *testing.T) {
	s := item.Schema{Fields: []item.FieldSpec{{Name: "image", Kind: item.KindBytes}, {Name: "label", Kind: item.KindInt}}}
	for _, c := range []struct {
		stage graph.Shaper
		want  string
	}{
		{DecodeImage{}, "image: image ?×?×3, label: int"},
		{Resize{Size: []int{256}}, "image: image ?×?×3, label: int"},
		{CenterCrop{Size: []int{200}}, "image: image 200×200×3, label: int"},
		{RandomResizedCrop{}, "image: image 224×224×3, label: int"},
		{RandomFlip{}, "image: image 224×224×3, label: int"},
		{Normalize{}, "image: tensor float32 3×224×224, label: int"},
		{Collate{}, "image: tensor float32 3×224×224, label: int"},
	} {
		var err error
		s, err = c.stage.Schema(s)
		require.NoError(t, err)
		assert.Equal(t, c.want, s.String())
	}
	raw := item.Schema{Fields: []item.FieldSpec{{Name: "image", Kind: item.KindBytes}}}
	for _, stage := range []graph.Shaper{Resize{Size: []int{2}}, CenterCrop{Size: []int{2}}, RandomResizedCrop{}, RandomFlip{}, Normalize{}} {
		_, err := stage.Schema(raw)
		assert.ErrorContains(t, err, `field "image": wanted image, found bytes; put decode_image before it`)
	}
	_, err := Normalize{}.Schema(item.Schema{Fields: []item.FieldSpec{{Name: "image", Kind: item.KindImage, Typed: true, Shape: item.MakeShape(2, 2, 1)}}})
	assert.ErrorContains(t, err, "3 channels, the pictures have 1")
}

func TestPicturesWithoutPixelsAreErrors(t *testing.T) {
	for name, w := range map[string]sampleStage{
		"resize": worker(t, Resize{Size: []int{8}}), "center_crop": worker(t, CenterCrop{Size: []int{8}}), "normalize": worker(t, Normalize{}),
		"random_resized_crop": worker(t, RandomResizedCrop{}), "random_flip": worker(t, RandomFlip{}),
	} {
		_, err := w.Map(call(0), sample("x", "image", item.Picture(item.Heap.Take(0), 0, 5, 3)))
		assert.ErrorContains(t, err, "it has no pixels", name)
		_, err = w.Map(call(0), sample("x"))
		assert.ErrorContains(t, err, `field "image" is missing`, name)
	}
}

func BenchmarkTransforms(b *testing.B) {
	run := func(name string, w sampleStage, h, wd int) {
		b.Run(name, func(b *testing.B) {
			v := ramp(h, wd, 3)
			b.ReportAllocs()
			c := graph.NewCall(b.Context(), 1, "s", item.Pos{})
			for b.Loop() {
				v.Buffer().Retain()
				s := sample("x", "image", v)
				if _, err := w.Map(c, s); err != nil {
					b.Fatal(err)
				}
				s.Release()
			}
		})
	}
	run("random_resized_crop 500x375 to 224", worker(b, RandomResizedCrop{}), 375, 500)
	run("resize 500x375 to 256", worker(b, Resize{Size: []int{256}}), 375, 500)
	run("center_crop 341x256 to 224", worker(b, CenterCrop{Size: []int{224}}), 256, 341)
	run("random_flip 224, copied", worker(b, RandomFlip{Probability: 1}), 224, 224)
	run("normalize 224", worker(b, Normalize{}), 224, 224)
}

func BenchmarkFlip(b *testing.B) {
	v := ramp(224, 224, 3)
	src := resize.Packed(v.Data(), 224, 224, 3)
	b.SetBytes(int64(len(v.Data())))
	for b.Loop() {
		flip(src, src)
	}
}
