//go:build amd64 && !noasm

package jpeg

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// units is a quantizer that changes nothing.
var units = func() (q [64]int16) {
	for i := range q {
		q[i] = 1
	}
	return
}()

// idct3 runs a block through the kernel, the quick Go form and the definition.
func idct3(nat *[64]int16, last uint8) (kernel, quick, plain [64]byte) {
	var vec [64]int16
	for n := range 64 {
		vec[vector[n]] = nat[n]
	}
	transformRow(kernel[:], 8, vec[:], &units, []uint8{last}, 1)
	idct8(quick[:], 8, nat, last)
	idctPlain(plain[:], 8, nat)
	return
}

func TestTransformTwinsAgreeOnAnyCoefficients(t *testing.T) {
	if !haveKernels {
		t.Skip("no AVX2 on this machine")
	}
	r := rand.New(rand.NewSource(3))
	edge := []int16{-32768, 32767, -32767, 16384, -16384, 8192, -8192, 0, 1, -1}
	for _, amp := range []int{64, 512, 1024, 2048, 4096, 8192, 16384, 32768} {
		for _, dense := range []int{1, 2, 8, 64} {
			for range 1200 {
				var nat [64]int16
				last := uint8(0)
				for range dense {
					k := uint8(r.Intn(64))
					if dense == 64 {
						k = uint8(r.Intn(1 + r.Intn(64)))
					}
					last = max(last, k)
					nat[zigzag[k]] = int16(r.Intn(2*amp) - amp)
					if r.Intn(20) == 0 {
						nat[zigzag[k]] = edge[r.Intn(len(edge))]
					}
				}
				kernel, quick, plain := idct3(&nat, last)
				require.Equal(t, plain, kernel, "kernel, %v", nat)
				require.Equal(t, plain, quick, "go, %v", nat)
			}
		}
	}
	for _, a := range edge { // all 64 alike
		for _, b := range edge {
			var nat [64]int16
			for i := range nat {
				nat[i] = a
				if i&1 == 1 {
					nat[i] = b
				}
			}
			kernel, quick, plain := idct3(&nat, 63)
			require.Equal(t, plain, kernel)
			require.Equal(t, plain, quick)
		}
	}
}

func TestTransformLeavesCoefficientsZero(t *testing.T) {
	if !haveKernels {
		t.Skip("no AVX2 on this machine")
	}
	coef := make([]int16, 128)
	for i := range coef[:64] {
		coef[i] = 5
	}
	coef[64] = 7 // DC only
	transformRow(make([]byte, 128), 16, coef, &units, []uint8{63, 0}, 2)
	require.Equal(t, make([]int16, 128), coef)
}

func TestRowTwinsAgreeOnRandomAndExtremeSamples(t *testing.T) {
	if !haveKernels {
		t.Skip("no AVX2 on this machine")
	}
	r := rand.New(rand.NewSource(4))
	row := func(n int) []byte {
		b := make([]byte, n)
		extreme := r.Intn(2) == 0
		for i := range b {
			b[i] = byte(r.Intn(256))
			if extreme {
				b[i] = byte(255 * r.Intn(2))
			}
		}
		return b
	}
	for range 8000 {
		n := 1 + r.Intn(80)
		near, far := row(n+64), row(n+64)
		a, b := make([]byte, 2*n+64), make([]byte, 2*n+64)
		widen1Row(a, near, n)
		widen1Go(b, near, n)
		require.Equal(t, b[:2*n], a[:2*n])
		widen2Row(a, near, far, n)
		widen2Go(b, near, far, n)
		require.Equal(t, b[:2*n], a[:2*n])
		n += 15
		y, cb, cr := row(n), row(n), row(n)
		a, b = make([]byte, 3*n), make([]byte, 3*n)
		yccRow(a, y, cb, cr, n)
		yccGo(b, y, cb, cr, n)
		require.Equal(t, b, a)
	}
	var y, cb, cr [256]byte // every pair of chroma values
	for i := range 256 {
		for j := range 256 {
			y[j], cb[j], cr[j] = byte(r.Intn(256)), byte(i), byte(j)
		}
		var a, b [768]byte
		yccRow(a[:], y[:], cb[:], cr[:], 256)
		yccGo(b[:], y[:], cb[:], cr[:], 256)
		require.Equal(t, b, a)
	}
}

func TestKernelMultipliesModulo16Bits(t *testing.T) {
	if !haveKernels {
		t.Skip("no AVX2 on this machine")
	}
	r := rand.New(rand.NewSource(5))
	for range 8000 {
		var q, nat, vec, vq, multiplied [64]int16
		last := uint8(0)
		for n := range 64 {
			q[n] = int16(r.Intn(65536))
			if r.Intn(3) == 0 {
				nat[n] = int16(r.Intn(65536))
				last = 63
			}
		}
		if r.Intn(4) == 0 {
			clear(nat[1:])
			last = 0
		}
		for n := range 64 {
			vec[vector[n]], vq[vector[n]] = nat[n], q[n]
		}
		multiply(&multiplied, &nat, &q, last)
		var a, b [64]byte
		transformRow(a[:], 8, vec[:], &vq, []uint8{last}, 1)
		idctPlain(b[:], 8, &multiplied)
		require.Equal(t, b, a)
	}
}
