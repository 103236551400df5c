package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/stages/jpeg"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faults are what a side could do wrong with the probe.
type faults struct{ whole, square, noMirror, alwaysMirror, picks, topLeft, rawBytes, bgr bool }

const testSize = 112

// probed makes what a side with these faults gives for copies of the probe, by another resize than ours.
func probed(t *testing.T, n int, f faults) rows {
	t.Helper()
	src := decoded(t)
	rng := rand.New(rand.NewPCG(1, 2))
	r := rows{n: n, size: testSize, data: make([]float32, n*3*testSize*testSize), labels: make([]int64, n)}
	for row := range n {
		x, y, w, h := drawn(rng)
		if f.square {
			w = min(w, h)
			h = w
		}
		if f.topLeft {
			x, y = 0, 0
		}
		if f.whole {
			x, y, w, h = 0, 0, probeWidth, probeHeight
		}
		mirrored := (rng.IntN(2) == 0 || f.alwaysMirror) && !f.noMirror
		for ch := range 3 {
			p := r.plane(row, ch)
			from := ch
			if f.bgr {
				from = 2 - ch
			}
			for i := range p {
				j := i
				if mirrored {
					j = i - i%testSize + testSize - 1 - i%testSize
				}
				v := boxed(src, from, x, y, w, h, j%testSize, j/testSize, f.picks)
				if !f.rawBytes {
					v = (v/255 - [3]float64{.485, .456, .406}[ch]) / [3]float64{.229, .224, .225}[ch]
				}
				p[i] = float32(v)
			}
		}
	}
	return r
}

// boxed is the mean of the pixels that lie in one of the result, or the first of them.
func boxed(src []byte, ch, x, y, w, h, i, j int, picks bool) float64 {
	x0, x1 := x+i*w/testSize, x+max((i+1)*w/testSize, i*w/testSize+1)
	y0, y1 := y+j*h/testSize, y+max((j+1)*h/testSize, j*h/testSize+1)
	if picks {
		x1, y1 = x0+1, y0+1
	}
	sum := 0
	for v := y0; v < y1; v++ {
		for u := x0; u < x1; u++ {
			sum += int(src[3*(v*probeWidth+u)+ch])
		}
	}
	return float64(sum) / float64((x1-x0)*(y1-y0))
}

func decoded(t *testing.T) []byte {
	t.Helper()
	var d jpeg.Decoder
	pix := make([]byte, 3*probeWidth*probeHeight)
	_, err := d.Decode(pix, probeJPEG, jpeg.Options{})
	require.NoError(t, err)
	return pix
}

func drawn(rng *rand.Rand) (x, y, w, h int) {
	for {
		area := float64(probeWidth*probeHeight) * (.08 + .92*rng.Float64())
		ratio := math.Exp((2*rng.Float64() - 1) * math.Log(4./3))
		w, h = int(math.Round(math.Sqrt(area*ratio))), int(math.Round(math.Sqrt(area/ratio)))
		if w <= probeWidth && h <= probeHeight {
			return rng.IntN(probeWidth - w + 1), rng.IntN(probeHeight - h + 1), w, h
		}
	}
}

func broken(cs []check) (out []string) {
	for _, c := range cs {
		if !c.OK {
			out = append(out, c.What+": "+c.Found)
		}
	}
	return out
}

func TestTheProbeTellsARightPipelineFromWrongOnes(t *testing.T) {
	assert.Empty(t, broken(sameRule(probed(t, 256, faults{}))))
	for name, f := range map[string]faults{
		"no_crop": {whole: true}, "squares": {square: true}, "never_mirrored": {noMirror: true}, "always_mirrored": {alwaysMirror: true},
		"no_antialias": {picks: true}, "top_left": {topLeft: true}, "not_normalized": {rawBytes: true}, "bgr": {bgr: true},
	} {
		t.Run(name, func(t *testing.T) {
			assert.NotEmpty(t, broken(sameRule(probed(t, 256, f))))
		})
	}
}

func TestTheProbeFindsTheCrop(t *testing.T) {
	r := probed(t, 1, faults{whole: true, noMirror: true})
	s := look(r, 0)
	assert.InDelta(t, 0, s.x, 2)
	assert.InDelta(t, 0, s.y, 2)
	assert.InDelta(t, probeWidth, s.w, 4)
	assert.InDelta(t, probeHeight, s.h, 4)
	assert.False(t, s.mirrored)
}

func TestPixelsThatDifferAreSeen(t *testing.T) {
	a := probed(t, 2, faults{})
	same := func(change func(*rows)) bool {
		b := rows{a.n, a.size, slices.Clone(a.data), slices.Clone(a.labels)}
		change(&b)
		return samePixels(a, b).OK
	}
	assert.True(t, same(func(*rows) {}))
	assert.True(t, same(func(b *rows) {
		for i := range b.data {
			b.data[i] += float32(0.5 * level[2]) // another rounding
		}
	}))
	assert.False(t, same(func(b *rows) { b.labels[0] = 7 }), "another order")
	assert.False(t, same(func(b *rows) { b.n-- }), "another count")
	assert.False(t, same(func(b *rows) {
		copy(b.plane(0, 0), a.plane(1, 0)) // another picture
	}))
	assert.False(t, same(func(b *rows) {
		copy(b.data[1:], a.data) // a pixel to the right
	}))
	assert.False(t, same(func(b *rows) {
		for i := range b.data {
			b.data[i] += float32(2 * level[0])
		}
	}), "brighter by two levels")
}

func TestWrongCountDtypeOrLayoutIsAnError(t *testing.T) {
	good := answer{DType: "float32", Shape: []int{2, 3, 4, 4}, Items: 2, Labels: []int64{0, 1}}
	var data bytes.Buffer
	require.NoError(t, binary.Write(&data, binary.LittleEndian, make([]float32, 2*3*4*4)))
	_, err := parse("peer", good, data.Bytes())
	require.NoError(t, err)
	for name, change := range map[string]func(*answer){
		"dtype":    func(a *answer) { a.DType = "uint8" },
		"layout":   func(a *answer) { a.Shape = []int{2, 4, 4, 3} },
		"count":    func(a *answer) { a.Items = 3 },
		"labels":   func(a *answer) { a.Labels = a.Labels[:1] },
		"no_batch": func(a *answer) { a.Shape = nil },
	} {
		a := good
		change(&a)
		_, err := parse("peer", a, data.Bytes())
		assert.ErrorContains(t, err, "peer", name)
	}
	_, err = parse("peer", good, data.Bytes()[1:])
	assert.Error(t, err)
}

func TestRowsThatAreMissingTwiceOrInOrderAreSeen(t *testing.T) {
	ok := pass{answer: answer{Items: 4, Sum: 6, Labels: []int64{2, 0, 3, 1}}}
	assert.True(t, shuffledOnce("x", ok, 4).OK)
	for _, change := range []func(*pass){
		func(p *pass) { p.Items = 3 },
		func(p *pass) { p.Sum = 7 },
		func(p *pass) { p.Labels = []int64{0, 1, 2, 3} },
		func(p *pass) { p.Labels = nil },
	} {
		p := ok
		change(&p)
		assert.False(t, shuffledOnce("x", p, 4).OK)
	}
	assert.True(t, allOnce([]int64{1, 0, 1}, []int64{0, 1, 1}).OK)
	assert.False(t, allOnce([]int64{1, 0}, []int64{0, 1, 1}).OK)
	assert.False(t, allOnce([]int64{1, 0, 0}, []int64{0, 1, 1}).OK)
	assert.False(t, allOnce(nil, nil).OK)
	assert.True(t, shapes(answer{Shape: []int{1}, DType: "float32"}, answer{Shape: []int{1}, DType: "float32"}).OK)
	assert.False(t, shapes(answer{Shape: []int{1}, DType: "float32"}, answer{Shape: []int{1}, DType: "float64"}).OK)
	assert.False(t, shapes(answer{Shape: []int{1}}, answer{Shape: []int{2}}).OK)
	assert.False(t, shapes(answer{}, answer{}).OK, "nothing was seen")
}
