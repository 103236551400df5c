//go:build amd64 && !noasm

package item

// haveFold is asked of the CPU once: AVX2, and an operating system that saves its registers.
var haveFold = func() bool {
	most, _, _, _ := cpuid(0, 0)
	if most < 7 {
		return false
	}
	_, _, c, _ := cpuid(1, 0)
	const osxsave, avx = 1 << 27, 1 << 28
	if c&osxsave == 0 || c&avx == 0 || xgetbv()&6 != 6 {
		return false
	}
	_, b, _, _ := cpuid(7, 0)
	const avx2 = 1 << 5
	return b&avx2 != 0
}()

func foldBlocks(lanes *[8]uint64, data []byte) {
	if !haveFold {
		foldBlocksGo(lanes, data)
		return
	}
	foldAVX2(lanes, &foldKeys, data)
}

// foldAVX2 folds the whole blocks of data, at least one.
//
//go:noescape
func foldAVX2(lanes *[8]uint64, keys *[24]uint64, data []byte)

//go:noescape
func cpuid(op, sub uint32) (a, b, c, d uint32)

//go:noescape
func xgetbv() uint32
