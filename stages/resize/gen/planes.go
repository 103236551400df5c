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
