package jpeg

import (
	"bytes"
	"hash/fnv"
	"image"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newRand(seed string) *rand.Rand {
	h := fnv.New64()
	h.Write([]byte(seed))
	return rand.New(rand.NewSource(int64(h.Sum64())))
}

func TestFaultsAreErrorsThatTellKindAndPlace(t *testing.T) {
	for _, c := range []struct {
		name, want string
		kind       error
	}{
		{"fault_cut60.jpg", "jpeg: the picture is cut short: 1 of 4 block rows decoded at byte 1", ErrCutShort},
		{"fault_cut_header.jpg", "jpeg: the picture is cut short in the quantizer (DQT) segment: ", ErrCutShort},
		{"fault_empty.jpg", "jpeg: the file is empty at byte 0", ErrCutShort},
		{"fault_dc_only.jpg", "jpeg: the picture is cut short: the scans with the last bits of coefficient 0 of component 0 are missing", ErrCutShort},
		{"fault_dc_only_no_eoi.jpg", "jpeg: the picture is cut short: the scans with the last bits of coefficient 0 of component 0 are missing", ErrCutShort},
		{"fault_prog_cut60.jpg", "jpeg: the picture is cut short: ", ErrCutShort},
		{"fault_lost_restart.jpg", "jpeg: restart (RST3) marker, wanted restart marker 2 before MCU 12 of 24 at byte ", ErrDamaged},
		{"sof9.jpg", "jpeg: unsupported: arithmetic-coded picture (SOF9) at byte ", ErrUnsupported},
		{"lossless.jpg", "jpeg: unsupported: lossless picture (SOF3) at byte ", ErrUnsupported},
		{"bits12.jpg", "jpeg: unsupported: 12 bits a sample, wanted 8 at byte ", ErrUnsupported},
	} {
		for name, d := range decoders() {
			_, err := d.Decode(make([]byte, 96*64*3), read(t, c.name), Options{})
			require.Error(t, err, "%s %s", c.name, name)
			assert.ErrorIs(t, err, c.kind, c.name)
			assert.Contains(t, err.Error(), c.want, c.name)
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.GreaterOrEqual(t, e.Offset, 0, c.name)
		}
	}
	_, err := Header([]byte("\x89PNG\r\n"))
	assert.EqualError(t, err, "jpeg: not a JPEG: it begins with 89 50, wanted ff d8 at byte 0")
}

func TestLenientGivesWhatIsThereAndSaysSo(t *testing.T) {
	whole, _, err := decode(t, new(Decoder), read(t, "fault_whole.jpg"), Options{})
	require.NoError(t, err)
	for name, d := range decoders() {
		pix, res, err := decode(t, d, read(t, "fault_cut60.jpg"), Options{Lenient: true})
		require.NoError(t, err, name)
		assert.False(t, res.Whole)
		assert.ErrorIs(t, res.Damage, ErrCutShort)
		assert.True(t, bytes.Equal(whole[:15*96*3], pix[:15*96*3]), "the rows before the cut")
		for i, v := range pix[33*96*3:] {
			require.EqualValues(t, 128, v, "the rows after it are grey, at %d", i)
		}
		for _, f := range []string{"fault_dc_only.jpg", "fault_dc_only_no_eoi.jpg", "fault_prog_cut60.jpg", "fault_lost_restart.jpg", "fault_bits.jpg"} {
			_, res, err := decode(t, d, read(t, f), Options{Lenient: true})
			require.NoError(t, err, f)
			assert.False(t, res.Whole, f)
			assert.Error(t, res.Damage, f)
		}
		_, err = d.Decode(pix, read(t, "fault_cut_header.jpg"), Options{Lenient: true})
		assert.ErrorIs(t, err, ErrCutShort, "a broken header is an error all the same")
		_, res, err = decode(t, d, read(t, "fault_whole.jpg"), Options{Lenient: true})
		require.NoError(t, err)
		assert.True(t, res.Whole)
	}
}

func TestLenientGoesOnAtTheNextRestartMarker(t *testing.T) {
	good := read(t, "restart.jpg") // 90x50, 6x4 MCUs of 16x16, a marker every 3
	whole, _, err := decode(t, new(Decoder), good, Options{})
	require.NoError(t, err)
	var marks []int
	for i := range len(good) - 1 {
		if good[i] == 0xFF && good[i+1]&0xF8 == mRST0 {
			marks = append(marks, i)
		}
	}
	require.Len(t, marks, 7)
	lost := append(append([]byte(nil), good[:marks[2]]...), good[marks[3]:]...) // interval 3: MCUs 9 to 11
	for name, d := range decoders() {
		pix, res, err := decode(t, d, lost, Options{Lenient: true})
		require.NoError(t, err)
		require.ErrorIs(t, res.Damage, ErrDamaged)
		same := func(x0, y0, x1, y1 int) bool {
			for y := y0; y < y1; y++ {
				if string(whole[(y*90+x0)*3:(y*90+x1)*3]) != string(pix[(y*90+x0)*3:(y*90+x1)*3]) {
					return false
				}
			}
			return true
		}
		assert.True(t, same(0, 0, 90, 15), name)
		assert.True(t, same(0, 17, 47, 31), name)
		assert.False(t, same(48, 16, 90, 32), name)
		assert.True(t, same(0, 33, 90, 50), name)
	}
}

// Both twins must give the same, damaged or not: a lenient decode of a file with changed bytes.
func TestTwinsAgreeOnDamagedPictures(t *testing.T) {
	if !haveKernels {
		t.Skip("no kernels on this machine: nothing to compare")
	}
	r := rand.New(rand.NewSource(9))
	var fast, slow Decoder
	slow.pure = true
	kinds := map[bool]int{}
	for range 1500 {
		names := []string{"restart.jpg", "seq_2x2.jpg", "prog_2x2.jpg", "restart_prog.jpg", "best.jpg", "apart.jpg", "cmyk.jpg", "grey.jpg", "worst.jpg"}
		data := append([]byte(nil), read(t, names[r.Intn(len(names))])...)
		for range 1 + r.Intn(4) {
			data[20+r.Intn(len(data)-20)] = byte(r.Intn(256))
		}
		info, err := Header(data)
		if err != nil || info.Width*info.Height > 1<<20 {
			continue
		}
		opt := Options{Lenient: r.Intn(4) > 0, Scale: 1 << r.Intn(2)}
		if r.Intn(2) == 0 {
			opt.Region = randomRegion(r, info.Width, info.Height)
		}
		a, ra, ea := decode(t, &fast, data, opt)
		b, rb, eb := decode(t, &slow, data, opt)
		require.Equal(t, ea == nil, eb == nil, "%v, %v", ea, eb)
		if ea != nil {
			assert.Equal(t, ea.Error(), eb.Error())
			continue
		}
		require.Equal(t, ra.Whole, rb.Whole)
		if !bytes.Equal(a, b) {
			i := 0
			for a[i] == b[i] {
				i++
			}
			require.Fail(t, "twins differ", "%v: %+v %+v at %d: %d, %d", ra.Damage, opt, info, i, a[i], b[i])
		}
		kinds[ra.Whole]++
	}
	t.Logf("decoded, by whole: %v", kinds)
}

func TestADamagedPictureDecodesTheSameWhateverCameBefore(t *testing.T) {
	var names []string
	for _, g := range goldens(t) {
		names = append(names, g.name)
	}
	r := rand.New(rand.NewSource(6))
	for range 1500 {
		data := append([]byte(nil), read(t, names[r.Intn(len(names))])...)
		for range 1 + r.Intn(4) {
			data[20+r.Intn(len(data)-20)] = byte(r.Intn(256))
		}
		if info, err := Header(data); err != nil || info.Width*info.Height > 1<<20 {
			continue
		}
		want, _, err := decode(t, new(Decoder), data, Options{Lenient: true})
		for name, d := range decoders() {
			_, _, _ = decode(t, d, read(t, names[r.Intn(len(names))]), Options{Scale: 1 << r.Intn(4)})
			got, _, again := decode(t, d, data, Options{Lenient: true})
			require.Equal(t, err == nil, again == nil)
			if err == nil {
				require.True(t, bytes.Equal(want, got), name)
			}
		}
	}
}

func TestASecondScanOfASequentialComponentIsDamage(t *testing.T) {
	data := read(t, "apart.jpg")
	scan := bytes.LastIndex(data, []byte{0xFF, mSOS})
	twice := append(append([]byte(nil), data[:len(data)-2]...), data[scan:]...)
	for _, d := range decoders() {
		_, _, err := decode(t, d, twice, Options{})
		assert.ErrorIs(t, err, ErrDamaged)
		_, res, err := decode(t, d, twice, Options{Lenient: true})
		require.NoError(t, err)
		assert.False(t, res.Whole)
	}
}

func TestDamageBelowTheRegionGoesUnseen(t *testing.T) {
	data := read(t, "fault_cut60.jpg")
	_, res, err := decode(t, new(Decoder), data, Options{Region: image.Rect(0, 0, 96, 10)})
	require.NoError(t, err)
	assert.True(t, res.Whole)
	_, _, err = decode(t, new(Decoder), data, Options{Region: image.Rect(10, 50, 20, 60)})
	assert.ErrorIs(t, err, ErrCutShort)
}

func TestADecoderIsAsGoodAsNewAfterAnError(t *testing.T) {
	good := read(t, "fault_whole.jpg")
	want, _, err := decode(t, new(Decoder), good, Options{})
	require.NoError(t, err)
	for name, d := range decoders() {
		for _, bad := range []string{"fault_cut60.jpg", "fault_bits.jpg", "fault_prog_cut60.jpg", "sof9.jpg", "fault_lost_restart.jpg"} {
			_, err := d.Decode(make([]byte, 96*64*3), read(t, bad), Options{})
			require.Error(t, err, bad)
			got, _, err := decode(t, d, good, Options{})
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got), "%s after %s", name, bad)
		}
	}
}

func TestSizesAreCheckedBeforeMemoryIsTaken(t *testing.T) {
	good := read(t, "fault_whole.jpg")
	sof := 0
	for i := range good {
		if good[i] == 0xFF && good[i+1] == mSOF0 {
			sof = i
			break
		}
	}
	huge := append([]byte(nil), good...)
	copy(huge[sof+5:], "\xff\xff\xff\xff")
	_, err := new(Decoder).Decode(nil, huge, Options{})
	assert.EqualError(t, err, "jpeg: the picture has 65535x65535 = 4294836225 pixels, the limit is 100000000 at byte "+itoa(sof))
	assert.ErrorIs(t, err, ErrLimit)
	d := new(Decoder)
	_, err = d.Decode(nil, huge, Options{MaxPixels: 1 << 40})
	assert.ErrorIs(t, err, ErrCutShort, "more blocks than bits")
	assert.Zero(t, len(d.planes[0].ring)+len(d.planes[0].store)+len(d.flat))
	_, err = d.Decode(make([]byte, 96*64*3), good, Options{MaxPixels: 96*64 - 1})
	assert.ErrorIs(t, err, ErrLimit)
	_, err = d.Decode(make([]byte, 41*35*3), read(t, "prog_1x1.jpg"), Options{MaxScans: 3})
	assert.ErrorIs(t, err, ErrLimit)
}

func itoa(i int) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return itoa(i/10) + itoa(i%10)
}

func TestWrongCallsAreRefused(t *testing.T) {
	data := read(t, "seq_2x2.jpg") // 43x31
	var ix Index
	_, _, err := decode(t, new(Decoder), data, Options{MakeIndex: &ix})
	require.NoError(t, err)
	for _, o := range []Options{
		{Scale: 3}, {Scale: 16}, {Scale: -1}, {Stride: 3*43 - 1}, {Stride: -5}, {Stride: 3*43 + 1}, {Stride: 1 << 62},
		{Region: image.Rect(0, 0, 44, 31)}, {Region: image.Rect(-1, 0, 4, 4)}, {Region: image.Rect(5, 5, 5, 9)},
		{Index: ix, MakeIndex: new(Index)},
	} {
		_, err := new(Decoder).Decode(make([]byte, 43*31*3), data, o)
		assert.ErrorIs(t, err, ErrUsage, "%+v", o)
	}
	_, err = new(Decoder).Decode(make([]byte, 43*31*3-1), data, Options{})
	assert.ErrorIs(t, err, ErrUsage)
	w, h := Info{Width: 10, Height: 10}.OutputSize(Options{Scale: 5})
	assert.Equal(t, []int{0, 0}, []int{w, h})
}
