package main

// pass is one pass of the inverse DCT over eight lines at a time. In: Y0 to Y3, row pairs (0,4) (2,6) (1,3) (5,7) as
// words side by side. All combined constants of the flow graph fit 16 bits, so every product is a multiply-add of a
// pair. Out: Y0 to Y3, two rows each, saturated to 16 bits.
func (a *asm) pass(round string, shift int) {
	a.op(`
		VPMADDWD k_e0<>(SB), Y0, Y4
		VPMADDWD k_e1<>(SB), Y0, Y5
		VPMADDWD k_t3<>(SB), Y1, Y6
		VPMADDWD k_t2<>(SB), Y1, Y7
		VPADDD k_%[1]s<>(SB), Y4, Y4
		VPADDD k_%[1]s<>(SB), Y5, Y5
		VPADDD Y6, Y4, Y8
		VPSUBD Y6, Y4, Y9
		VPADDD Y7, Y5, Y10
		VPSUBD Y7, Y5, Y11`, round)
	for _, o := range []struct{ n, even, hi, lo int }{{3, 8, 0, 15}, {2, 10, 1, 14}, {1, 11, 12, 13}, {0, 9, 8, 9}} {
		x, y := 6, 7
		if o.n&1 == 1 {
			x, y = 4, 5
		}
		a.op(`
			VPMADDWD k_o%[1]dc<>(SB), Y2, Y%[2]d
			VPMADDWD k_o%[1]dd<>(SB), Y3, Y%[3]d
			VPADDD Y%[3]d, Y%[2]d, Y%[2]d
			VPADDD Y%[2]d, Y%[4]d, Y%[5]d
			VPSUBD Y%[2]d, Y%[4]d, Y%[6]d`, o.n, x, y, o.even, o.hi, o.lo)
	}
	for _, r := range []int{0, 1, 12, 8, 9, 13, 14, 15} {
		a.op("VPSRAD $%d, Y%d, Y%d", shift, r, r)
	}
	a.op(`
		VPACKSSDW Y1, Y0, Y0
		VPACKSSDW Y8, Y12, Y1
		VPACKSSDW Y13, Y9, Y2
		VPACKSSDW Y15, Y14, Y3`)
}

func (a *asm) idct() {
	for _, c := range []struct {
		name string
		p, q int
	}{{"e0", 8192, 8192}, {"e1", 8192, -8192}, {"t3", 10703, 4433}, {"t2", 4433, -10704}, {"o0c", 2260, -6436}, {"o0d", 9633, -11363},
		{"o1c", 6437, -11362}, {"o1d", 2261, 9633}, {"o2c", 9633, -2259}, {"o2d", -11362, -6436}, {"o3c", 11363, 9633}, {"o3d", 6437, 2260}} {
		a.con(c.name, 2, c.p, c.q)
	}
	a.con("r1", 4, 1<<10)
	a.con("r2", 4, 1<<17)
	a.con("80", 1, 0x80)
	a.con("tr", 1, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)
	a.function("idctAVX2", "dst *byte, stride int, coef *int16, quant *int16, last *uint8, n int", "DI", "SI", "BX", "R10", "DX", "CX")
	a.op(`
		LEAQ (SI)(SI*2), R8
		loop:
		LEAQ (DI)(SI*4), R9
		CMPB (DX), $0
		JEQ dc
		VMOVDQU (BX), Y0
		VMOVDQU 32(BX), Y1
		VMOVDQU 64(BX), Y2
		VMOVDQU 96(BX), Y3
		VPMULLW (R10), Y0, Y0
		VPMULLW 32(R10), Y1, Y1
		VPMULLW 64(R10), Y2, Y2
		VPMULLW 96(R10), Y3, Y3
		VPXOR Y4, Y4, Y4
		VMOVDQU Y4, (BX)
		VMOVDQU Y4, 32(BX)
		VMOVDQU Y4, 64(BX)
		VMOVDQU Y4, 96(BX)`)
	a.pass("r1", 11)
	a.op(`
		VSHUFPS $0x88, Y1, Y0, Y4
		VSHUFPS $0xDD, Y1, Y0, Y5
		VSHUFPS $0x88, Y3, Y2, Y6
		VSHUFPS $0xDD, Y3, Y2, Y7
		VPERM2I128 $0x20, Y6, Y4, Y0
		VPERM2I128 $0x31, Y6, Y4, Y2
		VPERM2I128 $0x20, Y7, Y5, Y1
		VPERM2I128 $0x31, Y7, Y5, Y3`)
	a.pass("r2", 18)
	a.op(`
		VPACKSSWB Y1, Y0, Y0
		VPACKSSWB Y3, Y2, Y2
		VPSHUFB k_tr<>(SB), Y0, Y0
		VPSHUFB k_tr<>(SB), Y2, Y2
		VPUNPCKLDQ Y2, Y0, Y1
		VPUNPCKHDQ Y2, Y0, Y3
		VPXOR k_80<>(SB), Y1, Y1
		VPXOR k_80<>(SB), Y3, Y3
		VEXTRACTI128 $1, Y1, X4
		VEXTRACTI128 $1, Y3, X5
		VMOVQ X1, (DI)
		VMOVHPS X1, (DI)(SI*1)
		VMOVQ X3, (DI)(SI*2)
		VMOVHPS X3, (DI)(R8*1)
		VMOVQ X4, (R9)
		VMOVHPS X4, (R9)(SI*1)
		VMOVQ X5, (R9)(SI*2)
		VMOVHPS X5, (R9)(R8*1)
		next:
		ADDQ $8, DI
		ADDQ $128, BX
		INCQ DX
		DECQ CX
		JNZ loop
		VZEROUPPER
		RET
		dc:
		MOVWLSX (BX), AX
		MOVW $0, (BX)
		IMULL (R10), AX
		MOVWLSX AX, AX
		SHLL $2, AX
		ADDL $16, AX
		SARL $5, AX
		VMOVD AX, X0
		VPACKSSDW X0, X0, X0
		VPACKSSWB X0, X0, X0
		VPBROADCASTB X0, X0
		VPXOR k_80<>(SB), X0, X0
		VMOVQ X0, (DI)
		VMOVQ X0, (DI)(SI*1)
		VMOVQ X0, (DI)(SI*2)
		VMOVQ X0, (DI)(R8*1)
		VMOVQ X0, (R9)
		VMOVQ X0, (R9)(SI*1)
		VMOVQ X0, (R9)(SI*2)
		VMOVQ X0, (R9)(R8*1)
		JMP next`)
}
