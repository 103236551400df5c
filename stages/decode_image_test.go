package stages

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
)

func worker[A, B any](t testing.TB, s graph.Stage[A, B]) graph.Transform[A, B] {
	t.Helper()
	tr, err := s.Open(t.Context(), &graph.Env{Memory: item.Heap})
	require.NoError(t, err)
	if tr.NewWorker == nil {
		return tr
	}
	w, err := tr.NewWorker(t.Context())
	require.NoError(t, err)
	return w
}

// decoded is the picture in data; every file is a sample of the same worker.
func decoded(t testing.TB, w graph.Transform[*item.Sample, *item.Sample], data []byte) (*item.Value, error) {
	t.Helper()
	in := sample("x", "image", item.HeapBytes(data), "label", item.Int(4))
	out, err := w.Map(call(0), in)
	if err != nil {
		assert.NotPanics(t, in.Release, "a failed stage leaves its input to the engine")
		return nil, err
	}
	v, err := out.Need("image", item.KindImage)
	require.NoError(t, err)
	require.EqualValues(t, 4, out.Get("label").Int())
	return v, nil
}

func testFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "pictures", name))
	require.NoError(t, err)
	return b
}

func pixel(v *item.Value, x, y int) [3]byte {
	w := v.Shape().Dim(1)
	return [3]byte(v.Data()[3*(y*w+x):])
}

func TestDecodedPixelsAreThoseOfPillow(t *testing.T) {
	files, err := filepath.Glob("testdata/pictures/*.rgb")
	require.NoError(t, err)
	require.Greater(t, len(files), 25)
	w := worker(t, DecodeImage{})
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".rgb")
		want := testFile(t, name+".rgb")
		h, wd := int(binary.LittleEndian.Uint32(want)), int(binary.LittleEndian.Uint32(want[4:]))
		v, err := decoded(t, w, testFile(t, name))
		if !assert.NoError(t, err, name) {
			continue
		}
		assert.Equal(t, item.MakeShape(h, wd, 3), v.Shape(), name)
		assert.True(t, bytes.Equal(want[8:], v.Data()), "%s: the pixels differ", name)
	}
}

func TestOrientationCanBeLeftAlone(t *testing.T) {
	w := worker(t, DecodeImage{IgnoreOrientation: true})
	for _, name := range []string{"exif_1.jpg", "exif_3.jpg", "exif_6.jpg", "exif.png", "exif.webp"} {
		v, err := decoded(t, w, testFile(t, name))
		require.NoError(t, err)
		assert.Equal(t, item.MakeShape(18, 29, 3), v.Shape(), name)
	}
}

func TestTurnsAreThoseOfTheEXIFStandard(t *testing.T) {
	src := []byte{'a', 0, 0, 'b', 0, 0, 'c', 0, 0, 'd', 0, 0, 'e', 0, 0, 'f', 0, 0} // abc over def
	want := []string{"", "abcdef", "cbafed", "fedcba", "defabc", "adbecf", "daebfc", "fcebda", "cfbead"}
	for o := 1; o <= 8; o++ {
		dst, got := make([]byte, len(src)), ""
		turn(dst, src, 3, 2, o)
		for i := 0; i < len(dst); i += 3 {
			got += string(dst[i])
		}
		assert.Equal(t, want[o], got, "orientation %d", o)
	}
}

func encodePNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}

func TestSixteenBitsBecomeEightByRounding(t *testing.T) {
	grey, rgb := image.NewGray16(image.Rect(0, 0, 5, 1)), image.NewNRGBA64(image.Rect(0, 0, 5, 1))
	for x, v := range []uint16{0, 256, 4660, 32768, 65535} {
		grey.SetGray16(x, 0, color.Gray16{Y: v})
		rgb.SetNRGBA64(x, 0, color.NRGBA64{R: v, G: 65535 - v, B: v, A: 0x8000})
	}
	w := worker(t, DecodeImage{})
	for i, m := range []image.Image{grey, rgb} {
		v, err := decoded(t, w, encodePNG(t, m))
		require.NoError(t, err)
		for x, want := range []byte{0, 1, 18, 128, 255} {
			got := pixel(v, x, 0)
			assert.Equal(t, want, got[0])
			assert.Equal(t, want, got[2])
			if i == 1 {
				assert.Equal(t, 255-want, got[1], "also below half-transparent pixels")
			}
		}
	}
}

func animation(t testing.TB, frames int, box image.Rectangle) []byte {
	t.Helper()
	g := &gif.GIF{Config: image.Config{Width: 8, Height: 6, ColorModel: color.Palette{color.Black, color.White}}}
	for i := range frames {
		m := image.NewPaletted(box, color.Palette{color.RGBA{R: 200, G: 40, B: 40, A: 255}, color.RGBA{G: 200, A: 255}, color.RGBA{}})
		for k := range m.Pix {
			m.Pix[k] = byte(min(i, 1))
		}
		m.SetColorIndex(box.Min.X, box.Min.Y, 2)
		g.Image, g.Delay = append(g.Image, m), append(g.Delay, 5)
	}
	var b bytes.Buffer
	require.NoError(t, gif.EncodeAll(&b, g))
	return b.Bytes()
}

func TestAGIFIsItsFirstFrameOnItsCanvas(t *testing.T) {
	w := worker(t, DecodeImage{})
	whole := animation(t, 3, image.Rect(2, 1, 6, 5))
	still := animation(t, 1, image.Rect(2, 1, 6, 5))
	odd := map[string][]byte{
		"animated": whole, "still": still,
		"without trailer":         still[:len(still)-1],
		"zeros before the end":    append(bytes.Clone(still[:len(still)-1]), 0, 0, ';'),
		"later frames broken off": whole[:len(whole)-20],
	}
	for name, data := range odd {
		v, err := decoded(t, w, data)
		require.NoError(t, err, name)
		assert.Equal(t, item.MakeShape(6, 8, 3), v.Shape(), name)
		assert.Equal(t, [3]byte{200, 40, 40}, pixel(v, 3, 2), name)
		assert.Equal(t, [3]byte{}, pixel(v, 2, 1), "%s: transparent", name)
		assert.Equal(t, [3]byte{}, pixel(v, 7, 5), "%s: not covered", name)
	}
	_, err := decoded(t, w, still[:len(still)-8])
	assert.ErrorContains(t, err, "cut short")
}

func TestBrokenPicturesSayWhatIsWrong(t *testing.T) {
	w := worker(t, DecodeImage{})
	photo, progressive := testFile(t, "photo.jpg"), testFile(t, "progressive.jpg")
	second := bytes.Index(progressive, []byte("\xFF\xDA"))
	second += 2 + bytes.Index(progressive[second+2:], []byte("\xFF\xC4"))
	cases := map[string]struct {
		data []byte
		want string
	}{
		"empty":               {nil, "empty file"},
		"jpeg at 60 %":        {photo[:len(photo)*6/10], "the picture is cut short"},
		"jpeg in its header":  {photo[:100], "the picture is cut short"},
		"jpeg mark alone":     {photo[:2], "the picture is cut short"},
		"first scan only":     {progressive[:second], "the picture is cut short"},
		"png":                 {testFile(t, "rgb.png")[:600], "the picture is cut short"},
		"png in its header":   {testFile(t, "rgb.png")[:20], "the picture is cut short"},
		"png mark, in part":   {testFile(t, "rgb.png")[:5], "the picture is cut short"},
		"gif":                 {testFile(t, "interlaced.gif")[:300], "the picture is cut short"},
		"webp":                {testFile(t, "lossy_29x18.webp")[:100], "the picture is cut short"},
		"webp lossless":       {testFile(t, "lossless.webp")[:300], "the picture is cut short"},
		"html":                {[]byte("<!DOCTYPE html><html>"), `not a picture we know (JPEG, PNG, GIF, WebP): begins with "<!DOCTYPE ht"`},
		"tiff":                {[]byte("II*\x00\x08\x00\x00\x00"), "TIFF files are not read"},
		"bmp":                 {[]byte("BM123456"), "BMP files are not read"},
		"avif":                {[]byte("\x00\x00\x00\x20ftypavif\x00"), `files of type "avif"`},
		"a byte":              {[]byte("x"), `begins with "x"`},
		"png without size":    {append([]byte(pngMark+"\x00\x00\x00\x0DIHDR"), make([]byte, 17)...), "0×0 pixels"},
		"gif without a frame": {[]byte("GIF89a\x02\x00\x02\x00\x00\x00\x00;"), "damaged GIF"},
		"webp of nothing":     {[]byte("RIFF\x04\x00\x00\x00WEBP"), "holds no picture"},
	}
	for name, c := range cases {
		_, err := decoded(t, w, c.data)
		assert.ErrorContains(t, err, c.want, name)
	}
	flipped := testFile(t, "rgb.png")
	flipped[100] ^= 0x10
	_, err := decoded(t, w, flipped)
	assert.ErrorContains(t, err, "damaged PNG")
}

// The stated rule for what cameras and servers do to the end of files.
func TestWhatFollowsAPictureDoesNotMatter(t *testing.T) {
	w := worker(t, DecodeImage{})
	photo, progressive := testFile(t, "photo.jpg"), testFile(t, "progressive.jpg")
	want, err := decoded(t, w, photo)
	require.NoError(t, err)
	fill := bytes.Replace(photo, []byte("\xFF\xC0"), []byte("\xFF\xFF\xFF\xFF\xC0"), 1)
	for name, data := range map[string][]byte{
		"no end mark":              photo[:len(photo)-2],
		"junk":                     append(bytes.Clone(photo), "camera maker's notes"...),
		"two pictures":             append(bytes.Clone(photo), progressive...),
		"fill bytes before a mark": fill,
	} {
		got, err := decoded(t, w, data)
		if assert.NoError(t, err, name) {
			assert.True(t, want.Equal(got), name)
		}
	}
	_, err = decoded(t, w, append(testFile(t, "rgb.png"), "junk"...))
	assert.NoError(t, err)
}

func TestTooManyPixelsAreRefusedFromTheHeader(t *testing.T) {
	bomb := []byte(pngMark + "\x00\x00\x00\x0DIHDR\x00\x00\x75\x30\x00\x00\x75\x30\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	w := worker(t, DecodeImage{})
	_, err := decoded(t, w, bomb)
	assert.ErrorContains(t, err, "30000×30000 = 900000000 pixels, more than max_pixels, 100000000")

	small := worker(t, DecodeImage{MaxPixels: 29*18 - 1})
	for _, name := range []string{"rgb.png", "interlaced.gif", "lossy_29x18.webp", "lossless.webp", "exif_6.jpg"} {
		_, err := decoded(t, small, testFile(t, name))
		assert.ErrorContains(t, err, "more than max_pixels", name)
		_, err = decoded(t, worker(t, DecodeImage{MaxPixels: 29 * 18}), testFile(t, name))
		assert.NoError(t, err, name)
	}
	assert.ErrorContains(t, DecodeImage{MaxPixels: -1}.Check(), "max_pixels")
}

func TestAWebPsFrameIsWhatIsMeasured(t *testing.T) {
	data := testFile(t, "lossy_alpha.webp")
	at := bytes.Index(data, []byte("VP8X")) + 8
	data[at+4] = 3 // the canvas says 4 pixels, the frame is larger
	_, err := decoded(t, worker(t, DecodeImage{}), data)
	assert.ErrorContains(t, err, "a picture of 29×18 on a canvas of 4×18")
	data = testFile(t, "lossy_alpha.webp")
	data[at] |= 2
	_, err = decoded(t, worker(t, DecodeImage{}), data)
	assert.ErrorContains(t, err, "animated")
}

func TestPeakIsToldByTheHeader(t *testing.T) {
	peak := func(name string) int64 {
		return DecodeImage{}.Peak(sample("a", "image", item.HeapBytes(testFile(t, name)))) - int64(len(testFile(t, name))) - 1
	}
	const n = 29 * 18
	assert.EqualValues(t, 3*n, peak("exif_1.jpg"))
	assert.EqualValues(t, 6*n, peak("exif_6.jpg"), "two copies while it is turned")
	assert.EqualValues(t, 3*n+len(testFile(t, "rgb.png"))+8*29, peak("rgb.png"))
	assert.EqualValues(t, 4*n, peak("interlaced.gif"))
	assert.EqualValues(t, 0, DecodeImage{}.Peak(sample("a")))
}

func TestDecodeImageNeedsBytes(t *testing.T) {
	in := item.Schema{Fields: []item.FieldSpec{{Name: "image", Kind: item.KindBytes}, {Name: "label", Kind: item.KindInt}}}
	out, err := DecodeImage{}.Schema(in)
	require.NoError(t, err)
	assert.Equal(t, "image: image ?×?×3, label: int", out.String())
	_, err = DecodeImage{}.Schema(out)
	assert.ErrorContains(t, err, `field "image": wanted bytes, found image`)
	_, err = worker(t, DecodeImage{}).Map(call(0), sample("a", "image", picture(1, 1, 3, 0)))
	assert.ErrorContains(t, err, `field "image" is image, wanted bytes`)
}

func FuzzDecodeImage(f *testing.F) {
	files, err := filepath.Glob("testdata/pictures/*[a-z4]")
	require.NoError(f, err)
	for _, name := range files {
		if data, err := os.ReadFile(name); err == nil && !strings.HasSuffix(name, ".rgb") {
			f.Add(data)
		}
	}
	w := worker(f, DecodeImage{MaxPixels: 1 << 16})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := sample("x", "image", item.HeapBytes(data))
		if p := (DecodeImage{MaxPixels: 1 << 16}).Peak(in); p < 0 {
			t.Fatalf("peak %d", p)
		}
		out, err := w.Map(call(0), in)
		if err == nil {
			v, err := out.Need("image", item.KindImage)
			if err != nil || v.Shape().Elems() != len(v.Data()) {
				t.Fatalf("%v, %v", v.Shape(), err)
			}
		}
	})
}

func FuzzOrientation(f *testing.F) {
	f.Add([]byte("Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00"))
	f.Add([]byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if o := orientationOf(data); o < 1 || o > 8 {
			t.Fatal(o)
		}
	})
}
