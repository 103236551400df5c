package resize

import (
	"math/rand"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// fenced is memory of n bytes with pages that must not be touched before and behind; it lies against one of them.
func fenced(t *testing.T, n int, behind bool) []byte {
	page := os.Getpagesize()
	pages := (n + page - 1) / page
	m, err := syscall.Mmap(-1, 0, (pages+2)*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Munmap(m) })
	require.NoError(t, syscall.Mprotect(m[:page], syscall.PROT_NONE))
	require.NoError(t, syscall.Mprotect(m[(pages+1)*page:], syscall.PROT_NONE))
	if behind {
		return m[(pages+1)*page-n : (pages+1)*page : (pages+1)*page]
	}
	return m[page : page+n : page+n]
}

// A kernel that reads or writes a byte outside of its pictures ends the test program.
func TestNothingOutsideThePicturesIsTouched(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	var s Scaler
	for range 150 {
		w, h, n, behind := 1+r.Intn(90), 1+r.Intn(30), 1+r.Intn(4), r.Intn(3) > 0
		src := Packed(fenced(t, w*h*n, behind), w, h, n)
		j := Job{Box{0, 0, w, h}, 1 + r.Intn(60), 1 + r.Intn(20), false}
		s.Bytes(Packed(fenced(t, j.Width*j.Height*n, behind), j.Width, j.Height, n), src.At(0, 0), j)
	}
}
