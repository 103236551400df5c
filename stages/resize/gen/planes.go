package main

// planes writes the look-up of three channels, four pixels a turn. A byte is loaded and its number fetched by itself:
// VGATHERDPS is no faster where it is fast, and far slower where it is patched.
func (a *asm) planes() {
	a.function("planesAVX2", "red *float32, green *float32, blue *float32, src *byte, table *float32, table2 *float32, table3 *float32, turns int",
		"DI", "DX", "BX", "SI", "R8", "R9", "R10", "CX")
	a.op("turn:")
	for c, t := range []string{"R8", "R9", "R10"} {
		regs := []string{"AX", "R11", "R12", "R13"}
		for p, r := range regs {
			a.op("MOVBLZX %d(SI), %s", 3*p+c, r)
		}
		a.op("VMOVSS (%s)(AX*4), X%d", t, c)
		for p, r := range regs[1:] {
			a.op("VINSERTPS $%d, (%s)(%s*4), X%[4]d, X%[4]d", 16*(p+1), t, r, c)
		}
	}
	a.op(`
		VMOVUPS X0, (DI)
		VMOVUPS X1, (DX)
		VMOVUPS X2, (BX)
		ADDQ $12, SI
		ADDQ $16, DI
		ADDQ $16, DX
		ADDQ $16, BX
		SUBQ $1, CX
		JNZ turn
		RET`)
}

// normal writes (v/255 - mean) / deviation of three channels, eight pixels a turn. A quotient x/y is x*h + x*l, where
// h + l is 1/y in two numbers and the second product is rounded before the sum: nearly always the quotient as a division
// rounds it. newTables tries all values of a byte before the kernel is used. vectors are masks (3), 1/255 (h, l), means
// (3), deviations' h (3) and l (3), of 32 bytes each. It reads 28 bytes of the source for 24.
func (a *asm) normal() {
	a.function("normalFMA", "red *float32, green *float32, blue *float32, src *byte, vectors *byte, turns int",
		"DI", "DX", "BX", "SI", "R8", "CX")
	for i := range 11 {
		a.op("VMOVUPS %d(R8), Y%d", 32*i, 5+i)
	}
	a.op("turn:\nVMOVDQU (SI), X0\nVINSERTI128 $1, 12(SI), Y0, Y0")
	for c, to := range []string{"DI", "DX", "BX"} {
		v, q := 1+c%2*2, 2+c%2*2
		a.op(`
			VPSHUFB Y%[3]d, Y0, Y%[1]d
			VCVTDQ2PS Y%[1]d, Y%[1]d
			VMULPS Y9, Y%[1]d, Y%[2]d
			VFMADD231PS Y8, Y%[1]d, Y%[2]d
			VSUBPS Y%[4]d, Y%[2]d, Y%[2]d
			VMULPS %[6]d(R8), Y%[2]d, Y%[1]d
			VFMADD231PS Y%[5]d, Y%[2]d, Y%[1]d
			VMOVUPS Y%[1]d, (%[7]s)`, v, q, 5+c, 10+c, 13+c, 32*(11+c), to)
	}
	a.op(`
		ADDQ $24, SI
		ADDQ $32, DI
		ADDQ $32, DX
		ADDQ $32, BX
		SUBQ $1, CX
		JNZ turn
		VZEROUPPER
		RET`)
}
