//go:build amd64 && !noasm

package resize

//go:generate go run ./gen -o kern_amd64.s

// haveKernels is asked of the CPU once: AVX2, and an operating system that saves its registers. haveFMA: fused
// multiply-add as well.
var haveKernels, haveFMA = func() (bool, bool) {
	most, _, _, _ := cpuid(0, 0)
	if most < 7 {
		return false, false
	}
	_, _, c, _ := cpuid(1, 0)
	const osxsave, avx, fma = 1 << 27, 1 << 28, 1 << 12
	if c&osxsave == 0 || c&avx == 0 || xgetbv()&6 != 6 {
		return false, false
	}
	_, b, _, _ := cpuid(7, 0)
	const avx2 = 1 << 5
	return b&avx2 != 0, b&avx2 != 0 && c&fma != 0
}()

// masks are the shuffles of the pass along rows, for 1 to 4 channels: taps 0 and 1 to pairs of words, taps 2 and 3, and
// the bytes of four results, 0 and 1 side by side, 2 and 3 behind them, to one another.
var masks = func() (t [maxChannels + 1][96]byte) {
	for n := 1; n <= maxChannels; n++ {
		m := &t[n]
		for i := range m {
			m[i] = 0x80
		}
		for half := 0; half < 32; half += 16 {
			for c := range n {
				for tap := range 4 {
					m[32*(tap/2)+half+4*c+2*(tap%2)] = byte(tap*n + c)
					m[64+half+tap*n+c] = byte(8*(tap/2) + 2*c + tap%2)
				}
			}
		}
	}
	return
}()

//go:noescape
func cpuid(op, sub uint32) (a, b, c, d uint32)

//go:noescape
func xgetbv() uint32

//go:noescape
func acrossPairAVX2(dst, dst2, src, src2 *byte, offset *int32, weights *uint32, masks *byte, turns, step int)

//go:noescape
func across1AVX2(dst, dst2, src, src2 *byte, offset *int32, weights *uint32, masks *byte, turns, step int)

//go:noescape
func across2AVX2(dst, dst2, src, src2 *byte, offset *int32, weights *uint32, masks *byte, turns, step int)

//go:noescape
func acrossManyAVX2(dst, dst2, src, src2 *byte, offset *int32, weights *uint32, masks *byte, turns, step, groups int)

//go:noescape
func down1AVX2(dst, src *byte, stride int, weights *uint32, turns int)

//go:noescape
func down2AVX2(dst, src *byte, stride int, weights *uint32, turns int)

//go:noescape
func downManyAVX2(dst, src *byte, stride int, weights *uint32, turns, pairs int)

//go:noescape
func planesAVX2(red, green, blue *float32, src *byte, table, table2, table3 *float32, turns int)

//go:noescape
func normalFMA(red, green, blue *float32, src *byte, vectors *float32, turns int)

//go:noescape
func weights2AVX2(numbers *float64, in, out int, start, count, weight *int32, packed *uint32, index, step, room int) int

//go:noescape
func weights4AVX2(numbers *float64, in, out int, start, count, weight *int32, packed *uint32, index, step, room int) int

// fewTaps is makeGo and pack for up to four taps. It says whether there were no more.
func (f *filter) fewTaps(scale, support float64, taps int) bool {
	numbers := [10]float64{scale, support, 1 / support, 0.5, 1, 1 << bits, 0, 1, 2, 3}
	index, step := 0, 1
	if f.mirror {
		index, step = f.out-1, -1
	}
	f.pairs = 2
	if taps <= 2 {
		f.pairs = 1
	}
	f.packed = grown(f.packed, 2*f.pairs*f.out)
	_, _, _ = f.start[f.out-1], f.count[f.out-1], f.weight[f.out*f.room-1]
	first, room := &f.weight[index*f.room], 4*step*f.room
	if f.pairs == 1 {
		f.most = weights2AVX2(&numbers[0], f.in, f.out, &f.start[0], &f.count[0], first, &f.packed[0], index, step, room)
	} else {
		f.most = weights4AVX2(&numbers[0], f.in, f.out, &f.start[0], &f.count[0], first, &f.packed[0], index, step, room)
	}
	return f.most <= 2*f.pairs
}

// acrossRows is acrossGo for four positions or more and up to four channels. It reads f.span bytes of each row and writes
// up to spare bytes behind it.
func acrossRows(dst, dst2, src, src2 []byte, f *filter) {
	n := f.out*f.channels + spare
	_, _, _, _ = dst[n-1], dst2[n-1], src[f.span-1], src2[f.span-1]
	acrossTurns(dst, dst2, src, src2, f, 0, f.out/4)
	if f.out%4 != 0 { // the last four again, overlapped
		acrossTurns(dst, dst2, src, src2, f, f.out-4, 1)
	}
}

func acrossTurns(dst, dst2, src, src2 []byte, f *filter, first, turns int) {
	at, step := first*f.channels, 4*f.channels
	d, e, o := &dst[at], &dst2[at], &f.offset[first]
	w, m := &f.packed[2*f.pairs*first], &masks[f.channels][0]
	switch f.pairs {
	case 1:
		acrossPairAVX2(d, e, &src[0], &src2[0], o, w, m, turns, step)
	case 2:
		across1AVX2(d, e, &src[0], &src2[0], o, w, m, turns, step)
	case 4:
		across2AVX2(d, e, &src[0], &src2[0], o, w, m, turns, step)
	default:
		acrossManyAVX2(d, e, &src[0], &src2[0], o, w, m, turns, step, f.pairs/2)
	}
}

// downRow is downGo for 32 bytes or more. Of an odd number of rows one more is read, times zero.
func downRow(dst, src []byte, stride int, f *filter, i int) {
	pairs := int(f.count[i]+1) / 2
	_ = src[(2*pairs-1)*stride+len(dst)-1]
	w := &f.packed[2*f.pairs*i]
	downTurns(dst, src, stride, w, pairs, len(dst)/32)
	if n := len(dst) - 32; len(dst)%32 != 0 { // the last 32 again, overlapped
		downTurns(dst[n:], src[n:], stride, w, pairs, 1)
	}
}

func downTurns(dst, src []byte, stride int, w *uint32, pairs, turns int) {
	switch pairs {
	case 1:
		down1AVX2(&dst[0], &src[0], stride, w, turns)
	case 2:
		down2AVX2(&dst[0], &src[0], stride, w, turns)
	default:
		downManyAVX2(&dst[0], &src[0], stride, w, turns, pairs)
	}
}

// planesRow is planesGo for three channels and four pixels or more.
func planesRow(red, green, blue []float32, src []byte, t *Tables) {
	n := len(red)
	_, _, _ = green[n-1], blue[n-1], src[3*n-1]
	tr, tg, tb := &t.at(0)[0], &t.at(1)[0], &t.at(2)[0]
	planesAVX2(&red[0], &green[0], &blue[0], &src[0], tr, tg, tb, n/4)
	if o := n - 4; n%4 != 0 {
		planesAVX2(&red[o], &green[o], &blue[o], &src[3*o], tr, tg, tb, 1)
	}
}

// normalRow computes what planesRow looks up, for eight pixels or more. It reads up to 4 bytes behind the last.
func normalRow(red, green, blue []float32, src []byte, k *[14][8]float32) {
	n := len(red)
	_, _, _ = green[n-1], blue[n-1], src[3*n+3]
	normalFMA(&red[0], &green[0], &blue[0], &src[0], &k[0][0], n/8)
	if o := n - 8; n%8 != 0 {
		normalFMA(&red[o], &green[o], &blue[o], &src[3*o], &k[0][0], 1)
	}
}
