package jpeg

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchData gives the pictures of JPEG_BENCH (a glob), or those of testdata.
func benchData(b *testing.B) (data [][]byte, bytes int64) {
	glob := os.Getenv("JPEG_BENCH")
	if glob == "" {
		glob = "testdata/*.jpg"
	}
	files, err := filepath.Glob(glob)
	require.NoError(b, err)
	require.NotEmpty(b, files)
	for _, f := range files {
		d, err := os.ReadFile(f)
		require.NoError(b, err)
		if _, err := Header(d); err == nil {
			data = append(data, d)
			bytes += int64(len(d))
		}
	}
	return data, bytes
}

func benchDecode(b *testing.B, d *Decoder, opt Options) {
	data, n := benchData(b)
	buf := make([]byte, 4096*4096*3)
	b.SetBytes(n)
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range data {
			d.Decode(buf, p, opt)
		}
	}
}

func BenchmarkWhole(b *testing.B)   { benchDecode(b, new(Decoder), Options{}) }
func BenchmarkWholeGo(b *testing.B) { benchDecode(b, &Decoder{pure: true}, Options{}) }
