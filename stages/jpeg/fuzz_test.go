package jpeg

import (
	"bytes"
	"image"
	stdjpeg "image/jpeg"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func seeds(f *testing.F) (datas [][]byte) {
	files, err := filepath.Glob("testdata/*.jpg")
	require.NoError(f, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		datas = append(datas, data)
	}
	return datas
}

const fuzzPixels = 1 << 16

// FuzzDecode decodes with the kernels and with the Go forms: no crash, the same answer, no more blocks visited than
// the limits allow, a region like the whole, an index like none.
func FuzzDecode(f *testing.F) {
	for i, data := range seeds(f) {
		f.Add(data, int64(i))
	}
	fast, slow := new(Decoder), &Decoder{pure: true}
	f.Fuzz(func(t *testing.T, data []byte, seed int64) {
		info, err := Header(data)
		if err != nil || info.Width*info.Height > fuzzPixels {
			return
		}
		r := rand.New(rand.NewSource(seed))
		var ix Index
		opt := Options{Lenient: r.Intn(2) == 0, Scale: 1 << r.Intn(4), Grey: r.Intn(4) == 0, MaxScans: 1 + r.Intn(12), MakeIndex: &ix, IndexRows: r.Intn(3), IndexCols: r.Intn(4)}
		a, ra, ea := decode(t, fast, data, opt)
		opt.MakeIndex = nil
		b, rb, eb := decode(t, slow, data, opt)
		for _, d := range []*Decoder{fast, slow} {
			require.LessOrEqual(t, d.work, workLimit(info, opt.MaxScans))
		}
		if ea != nil || eb != nil {
			require.Error(t, ea)
			require.EqualError(t, eb, ea.Error())
			return
		}
		require.Equal(t, ra.Whole, rb.Whole)
		require.True(t, bytes.Equal(a, b), "the twins differ")
		if !ra.Whole {
			return // lost blocks of a region need not be those of the whole
		}
		opt.Region = randomRegion(r, info.Width, info.Height)
		c, rc, err := decode(t, fast, data, opt)
		require.NoError(t, err)
		opt.Index = ix
		d, _, err := decode(t, fast, data, opt)
		require.NoError(t, err)
		require.True(t, bytes.Equal(c, d), "with and without index")
		n := len(c) / rc.Width / rc.Height
		for y := range rc.Height {
			at := ((opt.Region.Min.Y/opt.Scale+y)*ra.Width + opt.Region.Min.X/opt.Scale) * n
			require.True(t, bytes.Equal(a[at:at+rc.Width*n], c[y*rc.Width*n:(y+1)*rc.Width*n]), "the region differs from the whole")
		}
	})
}

// FuzzAgainstStandardLibrary: where both decode a picture, they agree on its size.
func FuzzAgainstStandardLibrary(f *testing.F) {
	for _, data := range seeds(f) {
		f.Add(data)
	}
	d := new(Decoder)
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := Header(data)
		if err != nil || info.Width*info.Height > fuzzPixels {
			return
		}
		if c, err := stdjpeg.DecodeConfig(bytes.NewReader(data)); err != nil || c.Width*c.Height > fuzzPixels {
			return
		}
		_, res, err := decode(t, d, data, Options{})
		if err != nil {
			return
		}
		m, err := stdjpeg.Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		require.Equal(t, m.Bounds(), image.Rect(0, 0, res.Width, res.Height))
	})
}
