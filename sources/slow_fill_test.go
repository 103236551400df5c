package sources

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFillerIsTheGeneratorsSequence(t *testing.T) {
	for n := range 11 {
		got, want, x := make([]float32, n), make([]float32, n), uint64(77)
		fillNumbers(got, x)
		for k := range want {
			x = x*lcgA + lcgC
			want[k] = float32(int32(x>>32)>>7) / (1 << 24)
		}
		require.Equal(t, want, got)
	}
}

func BenchmarkFiller(b *testing.B) {
	numbers := make([]float32, 1024)
	for b.Loop() {
		fillNumbers(numbers, 7)
	}
}
