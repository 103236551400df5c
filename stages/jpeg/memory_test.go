package jpeg

import (
	"image"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func imagePoint(x, y int) image.Point { return image.Pt(x, y) }

func TestNothingIsAllocatedInSteadyState(t *testing.T) {
	names := []string{"seq_2x2.jpg", "prog_2x2.jpg", "cmyk.jpg", "ycck.jpg", "grey.jpg", "restart.jpg", "seq_1x2.jpg", "apart.jpg"}
	var datas [][]byte
	var ixs []Index
	for _, n := range names {
		datas = append(datas, read(t, n))
		ixs = append(ixs, makeIndex(t, datas[len(datas)-1], 1, 0))
	}
	dst := make([]byte, 100*100*3)
	var mk Index
	for name, d := range decoders() {
		all := func() {
			for i, data := range datas {
				for _, opt := range []Options{{}, {Grey: true}, {Scale: 2}, {Region: image.Rect(3, 4, 20, 21), Index: ixs[i]}, {MakeIndex: &mk}} {
					if _, err := d.Decode(dst, data, opt); err != nil {
						panic(err)
					}
				}
			}
		}
		all()
		assert.Zero(t, testing.AllocsPerRun(20, all), name)
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = Header(datas[0]) }), "header")
}

func TestCoefficientsAreZeroBetweenPictures(t *testing.T) {
	for name, d := range decoders() {
		for _, n := range []string{"seq_2x2.jpg", "prog_2x2.jpg", "restart.jpg", "cmyk.jpg", "fault_bits.jpg", "fault_cut60.jpg"} {
			_, _, err := decode(t, d, read(t, n), Options{Lenient: true})
			require.NoError(t, err)
			for k := range d.planes {
				c := d.planes[k].coef
				for _, v := range c[:cap(c)] {
					require.Zero(t, v, "%s after %s", name, n)
				}
			}
		}
	}
}

func TestMemoryIsEstimatedFromAbove(t *testing.T) {
	for _, g := range goldens(t) {
		data := read(t, g.name)
		info, err := Header(data)
		require.NoError(t, err)
		for _, d := range decoders() {
			_, _, err := decode(t, d, data, Options{})
			require.NoError(t, err)
			took := int(unsafe.Sizeof(*d)) + cap(d.flat) + cap(d.rgb)
			for k := range 4 {
				c := &d.planes[k]
				took += 2*cap(c.coef) + cap(c.last) + cap(c.ring) + cap(c.line) + 2*cap(c.store) + cap(c.ends) + 8*cap(c.nonzero)
				if d.tab.dc[k] != nil {
					took += int(unsafe.Sizeof(*d.tab.dc[k]))
				}
				if d.tab.ac[k] != nil {
					took += int(unsafe.Sizeof(*d.tab.ac[k]))
				}
				if d.tab.prog[k] != nil {
					took += int(unsafe.Sizeof(*d.tab.prog[k]))
				}
			}
			assert.LessOrEqual(t, int64(took), info.Memory(), g.name)
		}
	}
	info := Info{Width: 8000, Height: 6000, Components: 3, Sampling: [4][2]int{{2, 2}, {1, 1}, {1, 1}}}
	assert.Less(t, info.Memory(), int64(3<<20))
	info.Buffered = true
	assert.Greater(t, info.Memory(), int64(8000*6000*3))
}
