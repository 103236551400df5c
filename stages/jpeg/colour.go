package jpeg

// Colour conversion of JFIF with libjpeg's rounding. The Go form sums R, G and B in one word from two tables: R in
// bits 0 to 9, B in 12 to 21, G with 16 fraction bits from 24, all biased by 384.

var crTab, cbTab, clip = colourTables()

func colourTables() (cr, cb [256]uint64, clip [1024]byte) {
	for i := range 256 {
		x := int64(i - 128)
		r, b := (91881*x+32768)>>16, (116130*x+32768)>>16
		cr[i] = uint64((r + 384) + (-46802*x+384<<16)<<24)
		cb[i] = uint64((b+384)<<12 + (-22554*x+32768)<<24)
	}
	for i := range clip {
		clip[i] = byte(min(max(i-384, 0), 255))
	}
	return
}

func yccGo(dst, y, cb, cr []byte, n int) {
	y, cb, cr = y[:n], cb[:n], cr[:n]
	dst = dst[:3*n]
	for i := range n {
		u := uint64(y[i])*(1|1<<12|1<<40) + crTab[cr[i]] + cbTab[cb[i]]
		d := dst[3*i : 3*i+3 : 3*i+3]
		d[0] = clip[u&1023]
		d[1] = clip[u>>40&1023]
		d[2] = clip[u>>12&1023]
	}
}

// scale255 is a*b/255, rounded.
func scale255(a, b byte) byte {
	t := uint(a)*uint(b) + 128
	return byte((t + t>>8) >> 8)
}

// cmykRow turns inverted CMYK into RGB: what is stored is how much light each ink leaves.
func cmykRow(dst []byte, s [4][]byte, w int) {
	c, m, y, k := s[0][:w], s[1][:w], s[2][:w], s[3][:w]
	for i := range k {
		dst[3*i], dst[3*i+1], dst[3*i+2] = scale255(c[i], k[i]), scale255(m[i], k[i]), scale255(y[i], k[i])
	}
}

// blackRow finishes YCCK: the stored C, M, Y are the complements of the R, G, B that YCC gave.
func blackRow(dst, k []byte) {
	for i, v := range k {
		for j := 3 * i; j < 3*i+3; j++ {
			dst[j] = scale255(255-dst[j], v)
		}
	}
}

// greyRow turns RGB into luma as libjpeg does.
func greyRow(dst, rgb []byte) {
	for i := range dst {
		p := rgb[3*i : 3*i+3]
		dst[i] = byte((19595*uint(p[0]) + 38470*uint(p[1]) + 7471*uint(p[2]) + 32768) >> 16)
	}
}
