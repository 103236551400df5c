package main

// widen writes the triangle filters: 16 columns to 32 samples a turn, words inside.
func (a *asm) widen() {
	a.con("1", 2, 1)
	a.con("2", 2, 2)
	a.con("7", 2, 7)
	a.con("8", 2, 8)
	a.function("widen1AVX2", "out *byte, in *byte, n int", "DI", "SI", "CX")
	a.op(`
		VMOVDQU k_1<>(SB), Y14
		VMOVDQU k_2<>(SB), Y15
		loop:
		VPMOVZXBW -1(SI), Y0
		VPMOVZXBW (SI), Y1
		VPMOVZXBW 1(SI), Y2`)
	a.sides(2)
	a.op(`
		ADDQ $16, SI
		ADDQ $32, DI
		SUBQ $16, CX
		JG loop
		VZEROUPPER
		RET`)
	a.function("widen2AVX2", "out *byte, near *byte, far *byte, n int", "DI", "SI", "BX", "CX")
	a.op(`
		VMOVDQU k_8<>(SB), Y14
		VMOVDQU k_7<>(SB), Y15
		loop:`)
	for i := range 3 {
		a.op("VPMOVZXBW %d(SI), Y%d\nVPMOVZXBW %d(BX), Y%d", i-1, i, i-1, 3+i)
	}
	for i := range 3 {
		a.op("VPADDW Y%[1]d, Y%[2]d, Y%[2]d\nVPADDW Y%[1]d, Y%[1]d, Y%[1]d\nVPADDW Y%[1]d, Y%[2]d, Y%[1]d", i, 3+i)
	}
	a.sides(4)
	a.op(`
		ADDQ $16, SI
		ADDQ $16, BX
		ADDQ $32, DI
		SUBQ $16, CX
		JG loop
		VZEROUPPER
		RET`)
}

// sides mixes Y1 with its left and right neighbours Y0 and Y2 and stores even and odd samples; the biases are in Y14,
// Y15.
func (a *asm) sides(shift int) {
	a.op(`
		VPADDW Y1, Y1, Y6
		VPADDW Y6, Y1, Y1
		VPADDW Y14, Y0, Y0
		VPADDW Y15, Y2, Y2
		VPADDW Y1, Y0, Y0
		VPADDW Y1, Y2, Y2
		VPSRLW $%[1]d, Y0, Y0
		VPSRLW $%[1]d, Y2, Y2
		VPSLLW $8, Y2, Y2
		VPOR Y2, Y0, Y0
		VMOVDQU Y0, (DI)`, shift)
}

// ycc writes the colour conversion, 16 pixels a turn. With x = c-128, exact in 16-bit lanes: R = y + x +
// ((2x*26345>>16) + 1 >> 1), B = y + 2x + mulhrs(x, -7471), G = y - cr + (-22554 cb + 18734 cr + 32768 >> 16).
func (a *asm) ycc() {
	a.con("128", 2, 128)
	a.con("crr", 2, 26345)
	a.con("cbb", 2, -7471)
	a.con("g", 2, -22554, 18734)
	a.con("half", 4, 32768)
	// bytes of R,G (8 and 8) and B to places of three: m1 | m2 make the first 16 bytes of 24, m3 | m4 the last 8
	var m [4][]int
	for i := range 32 {
		p, c := i/3, i%3
		rg, b := 0x80, 0x80
		switch {
		case i >= 24:
		case c == 2:
			b = p
		default:
			rg = p + 8*c
		}
		m[i/16*2] = append(m[i/16*2], rg)
		m[i/16*2+1] = append(m[i/16*2+1], b)
	}
	for i, v := range m {
		a.con("m"+string(rune('1'+i)), 1, v...)
	}
	a.function("yccAVX2", "dst *byte, y *byte, cb *byte, cr *byte, n16 int", "DI", "SI", "BX", "DX", "CX")
	for i, k := range []string{"128", "crr", "1", "cbb", "g", "half", "m1", "m2", "m3"} {
		a.op("VMOVDQU k_%s<>(SB), Y%d", k, 7+i)
	}
	a.op(`
		loop:
		VPMOVZXBW (SI), Y0
		VPMOVZXBW (BX), Y1
		VPMOVZXBW (DX), Y2
		VPSUBW Y7, Y1, Y1
		VPSUBW Y7, Y2, Y2
		VPADDW Y2, Y2, Y3
		VPMULHW Y8, Y3, Y3
		VPADDW Y9, Y3, Y3
		VPSRAW $1, Y3, Y3
		VPADDW Y2, Y3, Y3
		VPADDW Y0, Y3, Y3
		VPUNPCKLWD Y2, Y1, Y5
		VPUNPCKHWD Y2, Y1, Y6
		VPMADDWD Y11, Y5, Y5
		VPMADDWD Y11, Y6, Y6
		VPADDD Y12, Y5, Y5
		VPADDD Y12, Y6, Y6
		VPSRAD $16, Y5, Y5
		VPSRAD $16, Y6, Y6
		VPACKSSDW Y6, Y5, Y5
		VPSUBW Y2, Y5, Y5
		VPADDW Y0, Y5, Y5
		VPMULHRSW Y10, Y1, Y4
		VPADDW Y1, Y1, Y1
		VPADDW Y0, Y4, Y4
		VPADDW Y1, Y4, Y4
		VPACKUSWB Y5, Y3, Y3
		VPACKUSWB Y4, Y4, Y4
		VPSHUFB Y13, Y3, Y0
		VPSHUFB Y14, Y4, Y1
		VPOR Y1, Y0, Y0
		VPSHUFB Y15, Y3, Y2
		VPSHUFB k_m4<>(SB), Y4, Y5
		VPOR Y5, Y2, Y2
		VMOVDQU X0, (DI)
		VMOVQ X2, 16(DI)
		VEXTRACTI128 $1, Y0, 24(DI)
		VEXTRACTI128 $1, Y2, X2
		VMOVQ X2, 40(DI)
		ADDQ $16, SI
		ADDQ $16, BX
		ADDQ $16, DX
		ADDQ $48, DI
		DECQ CX
		JNZ loop
		VZEROUPPER
		RET`)
}
