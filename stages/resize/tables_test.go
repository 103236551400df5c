package resize

import (
	"math"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNormalIsPyTorchsRule(t *testing.T) {
	n := imagenet()
	require.Len(t, n.values, 3)
	assert.Equal(t, float32(-2.117904), n.at(0)[0])
	assert.Equal(t, float32(2.64), n.at(2)[255])
	one := Normal([]float64{0.5}, []float64{0.25})
	require.Len(t, one.values, 1)
	assert.Equal(t, float32(-2), one.at(2)[0])
	assert.Equal(t, float32(2), one.at(0)[255])
	mixed := Normal([]float64{0.5}, []float64{0.5, 0.25, 1})
	assert.Equal(t, []float32{1, 2, 0.5}, []float32{mixed.at(0)[255], mixed.at(1)[255], mixed.at(2)[255]})
}

// Whatever the numbers are, computed rows are those looked up, bit by bit; the usual ones are computed.
func TestComputedRowsAreThoseLookedUp(t *testing.T) {
	if !haveFMA {
		t.Skip("no fused multiply-add on this machine")
	}
	r := rand.New(rand.NewSource(8))
	computed := 0
	line := random(r, 300, 1, 3).Pix
	line = append(line, make([]byte, spare)...)
	row := func() [3][]float32 {
		return [3][]float32{make([]float32, 300), make([]float32, 300), make([]float32, 300)}
	}
	const tries = 300
	for i := range tries {
		mean, std := make([]float64, 3), make([]float64, 3)
		for c := range mean {
			mean[c], std[c] = r.Float64(), 0.01+r.Float64()
			if i%4 == 3 {
				mean[c], std[c] = (r.Float64()-0.5)*math.Ldexp(1, r.Intn(60)-30), math.Ldexp(r.Float64(), r.Intn(280)-140)
			}
		}
		n := Normal(mean, std)
		if n.normal == nil {
			continue
		}
		computed++
		a, b := row(), row()
		normalRow(a[0], a[1], a[2], line, n.normal)
		planesGo(b[0], b[1], b[2], line, n)
		for c := range a {
			for x := range a[c] {
				require.Equal(t, math.Float32bits(b[c][x]), math.Float32bits(a[c][x]))
			}
		}
	}
	assert.Greater(t, computed, tries/2)
	assert.NotNil(t, imagenet().normal)
	assert.NotNil(t, Normal([]float64{0.5}, []float64{0.5}).normal)
	assert.NotNil(t, Normal([]float64{0.48145466, 0.4578275, 0.40821073}, []float64{0.26862954, 0.26130258, 0.27577711}).normal)
	t.Logf("%d of %d computed", computed, tries)
}
