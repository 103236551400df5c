package jpeg

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func makeIndex(t testing.TB, data []byte, rows, cols int) Index {
	var ix Index
	_, _, err := decode(t, new(Decoder), data, Options{MakeIndex: &ix, IndexRows: rows, IndexCols: cols})
	require.NoError(t, err)
	return ix
}

func TestAnIndexMadeDuringARegionDecodeIsTheSame(t *testing.T) {
	for _, name := range []string{"seq_2x2.jpg", "restart.jpg", "grey.jpg", "cmyk.jpg"} {
		data := read(t, name)
		info, err := Header(data)
		require.NoError(t, err)
		want := makeIndex(t, data, 2, 1)
		for range 5 {
			var ix Index
			opt := Options{MakeIndex: &ix, IndexRows: 2, IndexCols: 1, Region: randomRegion(newRand(name), info.Width, info.Height)}
			_, _, err := decode(t, new(Decoder), data, opt)
			require.NoError(t, err)
			assert.Equal(t, want, ix, name)
		}
	}
}

func TestAnIndexIsSmall(t *testing.T) {
	ix := makeIndex(t, read(t, "seq_2x2.jpg"), 0, 0) // 3x2 MCUs of 3 components
	assert.Len(t, ix, indexHeader+2*11)
}

func TestPicturesOfSeveralScansHaveNoIndex(t *testing.T) {
	assert.Empty(t, makeIndex(t, read(t, "prog_2x2.jpg"), 0, 0))
	assert.Empty(t, makeIndex(t, read(t, "apart.jpg"), 0, 0))
	ix := makeIndex(t, read(t, "seq_2x2.jpg"), 0, 0)
	_, _, err := decode(t, new(Decoder), read(t, "fault_cut60.jpg"), Options{Lenient: true, MakeIndex: &ix})
	require.NoError(t, err)
	assert.Empty(t, ix, "a picture that is not whole")
}

func TestAStaleOrSpoiltIndexIsAnError(t *testing.T) {
	data := read(t, "restart.jpg")
	ix := makeIndex(t, data, 1, 2)
	refused := func(data []byte, ix Index, why string) {
		_, err := new(Decoder).Decode(make([]byte, 90*50*3), data, Options{Index: ix})
		assert.ErrorIs(t, err, ErrIndex, why)
	}
	for i := range ix {
		bad := append(Index(nil), ix...)
		bad[i] ^= 0x10
		refused(data, bad, "a byte changed")
	}
	for n := 1; n < len(ix); n++ {
		refused(data, ix[:n], "cut")
	}
	for _, i := range []int{30, len(data) / 2, len(data) - 1} {
		other := append([]byte(nil), data...)
		other[i] ^= 1
		refused(other, ix, "other data of the same length")
	}
	refused(append(append([]byte(nil), data...), 0), ix, "longer data")
	prog := read(t, "prog_2x2.jpg")
	_, err := new(Decoder).Decode(make([]byte, 90*50*3), prog, Options{Index: ix})
	assert.ErrorIs(t, err, ErrIndex)
}

// sign makes an index's checksums right again.
func sign(ix Index, data []byte) {
	binary.LittleEndian.PutUint32(ix[8:], uint32(len(data)))
	binary.LittleEndian.PutUint32(ix[12:], crc32.Checksum(data, castagnoli))
	binary.LittleEndian.PutUint32(ix[4:], crc32.Checksum(ix[8:], castagnoli))
}

func TestAForgedIndexCannotBreakTheDecoder(t *testing.T) {
	for _, name := range []string{"restart.jpg", "seq_2x2.jpg", "cmyk.jpg"} {
		data := read(t, name)
		info, err := Header(data)
		require.NoError(t, err)
		good := makeIndex(t, data, 1, 2)
		r := newRand(name)
		for range 700 {
			ix := append(Index(nil), good...)
			for range 1 + r.Intn(4) {
				at := indexHeader + r.Intn(len(ix)-indexHeader)
				if r.Intn(8) == 0 {
					at = 16 + r.Intn(16)
				}
				ix[at] = byte(r.Intn(256))
			}
			sign(ix, data)
			for _, d := range decoders() {
				opt := Options{Index: ix, Region: randomRegion(r, info.Width, info.Height), Lenient: r.Intn(2) == 0}
				assert.NotPanics(t, func() { _, _, _ = decode(t, d, data, opt) })
				require.LessOrEqual(t, d.work, workLimit(info, 1))
			}
		}
	}
}

// workLimit is the most blocks a decode may visit: all of them once a scan, padding included.
func workLimit(i Info, scans int) int {
	maxH, maxV := 1, 1
	if i.Components > 1 {
		for k := range i.Components {
			maxH, maxV = max(maxH, i.Sampling[k][0]), max(maxV, i.Sampling[k][1])
		}
	}
	blocks := 0
	for k := range i.Components {
		h, v := i.Sampling[k][0], i.Sampling[k][1]
		blocks += ceilDiv(i.Width, 8*maxH) * ceilDiv(i.Height, 8*maxV) * h * v
	}
	return blocks * scans
}

func TestAnIndexSavesWork(t *testing.T) {
	data := read(t, "restart.jpg") // 6x4 MCUs
	ix := makeIndex(t, data, 1, 1)
	region := randomRegion(newRand("x"), 1, 1).Add(imagePoint(85, 45))
	var d Decoder
	_, _, err := decode(t, &d, data, Options{Region: region})
	require.NoError(t, err)
	without := d.work
	_, _, err = decode(t, &d, data, Options{Region: region, Index: ix})
	require.NoError(t, err)
	assert.Equal(t, 3*6*6, without, "the rows above the region's chroma, all of it")
	assert.LessOrEqual(t, d.work, 2*2*6)
}
