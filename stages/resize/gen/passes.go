package main

// many stands for a number that the kernel is told.
const many = -1

// Weights have 22 bits, more than the 15 that VPMADDWD takes: each is h<<8 + l. Sums of products with h and with l are
// kept apart and joined at the end, so the result is exact. The weights of two taps, a and b, are a doubleword of two h
// and one of two l.
//
// Of a sum s, s>>16 is at most 255<<6, and (s + 1<<21)>>22 is (s>>16 + 1<<5)>>6: VPMULHRSW by 1<<9, for two sums in one
// doubleword.

// across writes the pass along rows, for two rows at once (one in each half of a register) and four positions a turn. A
// load of 16 bytes holds four pixels of up to four channels, a group; the masks at Y13 and Y14 make pairs of words of
// taps 0,1 and 2,3, a channel in each doubleword, that at Y15 puts the results together. groups 0 is the form for two
// taps.
func (a *asm) across(groups int) {
	name := map[int]string{0: "acrossPairAVX2", 1: "across1AVX2", 2: "across2AVX2", many: "acrossManyAVX2"}[groups]
	params := "dst *byte, dst2 *byte, src *byte, src2 *byte, offset *int32, weights *uint32, masks *byte, turns int, step int"
	regs := []string{"DI", "R8", "SI", "R9", "R10", "R11", "R13", "CX", "R12"}
	if groups == many {
		params, regs = params+", groups int", append(regs, "DX")
	}
	a.function(name, params, regs...)
	a.op(`
		VMOVDQU (R13), Y13
		VMOVDQU 32(R13), Y14
		VMOVDQU 64(R13), Y15
		VMOVDQU k_round<>(SB), Y12
		turn:`)
	for o := range 4 {
		a.op("MOVLQSX %d(R10), AX", 4*o)
		switch groups {
		case 0:
			a.load(0)
			a.op(`
				VPSHUFB Y13, Y0, Y0
				VPBROADCASTD %d(R11), Y2
				VPBROADCASTD %d(R11), Y3
				VPMADDWD Y0, Y2, Y2
				VPMADDWD Y0, Y3, Y3`, 8*o, 8*o+4)
		case many:
			a.manyGroups(o)
		default:
			for g := range groups {
				a.group(g, 16*(groups*o+g), g == 0)
			}
		}
		a.op(`
			VPSLLD $8, Y2, Y2
			VPADDD Y2, Y3, Y%d`, 6+o)
	}
	if groups != many {
		a.op("ADDQ $%d, R11", 32*max(1, 2*groups))
	}
	a.join(6, 7, 12)
	a.join(8, 9, 12)
	a.op(`
		VPACKUSWB Y8, Y6, Y6
		VPSHUFB Y15, Y6, Y6
		VMOVDQU X6, (DI)
		VEXTRACTI128 $1, Y6, (R8)
		ADDQ $16, R10
		ADDQ R12, DI
		ADDQ R12, R8
		SUBQ $1, CX
		JNZ turn
		VZEROUPPER
		RET`)
}

// join rounds the sums in registers x and y to words and puts those of y behind those of x, one by one.
func (a *asm) join(x, y, round int) {
	a.op("VPSRLD $16, Y%[1]d, Y%[1]d\nVPBLENDW $0xaa, Y%[2]d, Y%[1]d, Y%[1]d", x, y)
	if round < 0 {
		a.op("VPMULHRSW k_round<>(SB), Y%[1]d, Y%[1]d", x)
		return
	}
	a.op("VPMULHRSW Y%[2]d, Y%[1]d, Y%[1]d", x, round)
}

// load takes group g (0 or 1) of both rows.
func (a *asm) load(g int) {
	at := "(AX*1)"
	if g == 1 {
		a.op("ADDQ R12, AX") // four pixels of the source are as long as four of the result
	}
	a.op("VMOVDQU (SI)%[1]s, X0\nVINSERTI128 $1, (R9)%[1]s, Y0, Y0", at)
}

// group multiplies four taps, whose weights are at R11 + at, and adds the sums to Y2 and Y3.
func (a *asm) group(g, at int, first bool) {
	a.load(g)
	a.op("VPSHUFB Y13, Y0, Y1\nVPSHUFB Y14, Y0, Y0")
	h, l := 4, 5
	if first {
		h, l = 2, 3
	}
	a.op("VPBROADCASTD %d(R11), Y%[2]d\nVPBROADCASTD %[3]d(R11), Y%[4]d", at, h, at+4, l)
	a.op("VPMADDWD Y1, Y%[1]d, Y%[1]d\nVPMADDWD Y1, Y%[2]d, Y%[2]d", h, l)
	if !first {
		a.op("VPADDD Y4, Y2, Y2\nVPADDD Y5, Y3, Y3")
	}
	a.op(`
		VPBROADCASTD %d(R11), Y10
		VPBROADCASTD %d(R11), Y11
		VPMADDWD Y0, Y10, Y10
		VPMADDWD Y0, Y11, Y11
		VPADDD Y10, Y2, Y2
		VPADDD Y11, Y3, Y3`, at+8, at+12)
}

func (a *asm) manyGroups(o int) {
	a.op("VPXOR Y2, Y2, Y2\nVPXOR Y3, Y3, Y3\nMOVQ DX, BX\ngroup%d:", o)
	a.group(0, 0, false)
	a.op("ADDQ R12, AX\nADDQ $16, R11\nSUBQ $1, BX\nJNZ group%d", o)
}

// down writes the pass along columns: 32 bytes a turn, rows in pairs, bytes a and b of the same column side by side.
func (a *asm) down(pairs int) {
	name := map[int]string{1: "down1AVX2", 2: "down2AVX2", many: "downManyAVX2"}[pairs]
	params := "dst *byte, src *byte, stride int, weights *uint32, turns int"
	regs := []string{"DI", "SI", "R8", "R11", "CX"}
	if pairs == many {
		params, regs = params+", pairs int", append(regs, "DX")
	}
	a.function(name, params, regs...)
	a.op("VMOVDQU k_even<>(SB), Y15")
	if pairs == many {
		a.op("turn:\nMOVQ SI, AX\nMOVQ R11, R10\nMOVQ DX, BX")
		for i := range 8 {
			a.op("VPXOR Y%[1]d, Y%[1]d, Y%[1]d", i)
		}
		a.op("pair:\nVPBROADCASTD (R10), Y14\nVPBROADCASTD 4(R10), Y13")
		a.rowPair("(AX)", "(AX)(R8*1)", 14, 13, false)
		a.op("LEAQ (AX)(R8*2), AX\nADDQ $8, R10\nSUBQ $1, BX\nJNZ pair")
	} else {
		a.op("VPBROADCASTD (R11), Y14\nVPBROADCASTD 4(R11), Y13")
		if pairs == 2 {
			a.op("LEAQ (R8)(R8*2), R9\nVPBROADCASTD 8(R11), Y12\nVPBROADCASTD 12(R11), Y11")
		}
		a.op("turn:")
		a.rowPair("(SI)", "(SI)(R8*1)", 14, 13, true)
		if pairs == 2 {
			a.rowPair("(SI)(R8*2)", "(SI)(R9*1)", 12, 11, false)
		}
	}
	for i := range 4 {
		a.op("VPSLLD $8, Y%[1]d, Y%[1]d\nVPADDD Y%[2]d, Y%[1]d, Y%[1]d", i, 4+i)
	}
	a.join(0, 1, -1)
	a.join(2, 3, -1)
	a.op(`
		VPACKUSWB Y2, Y0, Y0
		VMOVDQU Y0, (DI)
		ADDQ $32, SI
		ADDQ $32, DI
		SUBQ $1, CX
		JNZ turn
		VZEROUPPER
		RET`)
}

// rowPair adds two rows times the weights in registers h and l to the sums Y0 to Y3 and Y4 to Y7, or begins these.
func (a *asm) rowPair(first, second string, h, l int, begin bool) {
	for half, unpack := range []string{"VPUNPCKLBW", "VPUNPCKHBW"} {
		a.op("VMOVDQU %s, Y8\n%s %s, Y8, Y8", first, unpack, second)
		for q, columns := range []string{"Y15", "k_odd<>(SB)"} {
			i := 2*half + q
			a.op("VPSHUFB %s, Y8, Y9", columns)
			if begin {
				a.op("VPMADDWD Y9, Y%d, Y%d\nVPMADDWD Y9, Y%d, Y%d", h, i, l, 4+i)
				continue
			}
			a.op("VPMADDWD Y9, Y%d, Y10\nVPMADDWD Y9, Y%d, Y9\nVPADDD Y10, Y%[3]d, Y%[3]d\nVPADDD Y9, Y%[4]d, Y%[4]d", h, l, i, 4+i)
		}
	}
}
