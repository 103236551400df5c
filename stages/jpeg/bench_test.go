package jpeg

import (
	"bytes"
	"image"
	stdjpeg "image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchPicture is a picture in memory with the middle half of it each way, and its index.
type benchPicture struct {
	data  []byte
	crop  image.Rectangle
	index Index
}

// benchPictures reads the pictures of JPEG_BENCH (a glob), or the small ones of testdata, whose headers weigh as much
// as their pixels. Figures for the docs come from bench/jpeg/run.sh.
func benchPictures(b *testing.B) (ps []benchPicture, size int64, buf []byte) {
	glob := os.Getenv("JPEG_BENCH")
	if glob == "" {
		glob = "testdata/*.jpg"
	}
	files, err := filepath.Glob(glob)
	require.NoError(b, err)
	buf = make([]byte, 4096*4096*3)
	for _, f := range files {
		p := benchPicture{}
		p.data, err = os.ReadFile(f)
		require.NoError(b, err)
		info, err := Header(p.data)
		if err != nil {
			continue
		}
		if _, err := new(Decoder).Decode(buf, p.data, Options{MakeIndex: &p.index, IndexCols: 8}); err != nil {
			continue
		}
		w, h := info.Width, info.Height
		p.crop = image.Rect(w/4, h/4, w-w/4, h-h/4)
		ps = append(ps, p)
		size += int64(len(p.data))
	}
	require.NotEmpty(b, ps, glob)
	return ps, size, buf
}

func benchDecode(b *testing.B, d *Decoder, options func(p *benchPicture) Options) {
	ps, size, buf := benchPictures(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for i := range ps {
			if _, err := d.Decode(buf, ps[i].data, options(&ps[i])); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func whole(*benchPicture) Options          { return Options{} }
func cropped(p *benchPicture) Options      { return Options{Region: p.crop} }
func croppedIndex(p *benchPicture) Options { return Options{Region: p.crop, Index: p.index} }

func BenchmarkWhole(b *testing.B)     { benchDecode(b, new(Decoder), whole) }
func BenchmarkWholeGo(b *testing.B)   { benchDecode(b, &Decoder{pure: true}, whole) }
func BenchmarkCrop(b *testing.B)      { benchDecode(b, new(Decoder), cropped) }
func BenchmarkCropGo(b *testing.B)    { benchDecode(b, &Decoder{pure: true}, cropped) }
func BenchmarkCropIndex(b *testing.B) { benchDecode(b, new(Decoder), croppedIndex) }

func BenchmarkMakeIndex(b *testing.B) {
	var ix Index
	benchDecode(b, new(Decoder), func(*benchPicture) Options { return Options{MakeIndex: &ix, IndexCols: 8} })
}

func BenchmarkEighth(b *testing.B) {
	benchDecode(b, new(Decoder), func(*benchPicture) Options { return Options{Scale: 8} })
}

func BenchmarkHeader(b *testing.B) {
	ps, _, _ := benchPictures(b)
	b.ReportAllocs()
	for b.Loop() {
		for i := range ps {
			_, _ = Header(ps[i].data)
		}
	}
}

func BenchmarkStandardLibrary(b *testing.B) {
	ps, size, _ := benchPictures(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for i := range ps {
			_, _ = stdjpeg.Decode(bytes.NewReader(ps[i].data))
		}
	}
}

func BenchmarkBuildTables(b *testing.B) {
	var ac acTable
	var dc dcTable
	for b.Loop() {
		require.NoError(b, ac.build(standardTables[1][0]))
		require.NoError(b, dc.build(standardTables[0][0]))
	}
}
