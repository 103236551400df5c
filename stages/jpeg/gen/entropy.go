package main

import "strings"

// The entropy decoder: baseline.go's span, readAC and skipAC with the state in registers all through.
//
//	R8, R14  acc before and after the look-up at hand, in turn
//	R9       n, good bits in it
//	R10      next byte in the buffer
//	R11      AC table     R12 places of the coefficients     R13 the block
//	R15      the mcuBlock
//	SI       the entry, as an index behind R11
//	CX       k            BX  k after the first symbol of an entry
//	X0       predictors at the start of the MCU
//
// The fields of an entry (acEntry: bits, code, shift, adv, adv2, long, v2) are loaded one by one: cutting them out of
// a register takes shifts, of which many CPUs do two in a cycle, and the shifts of acc would wait for them.

// refill makes 56 bits of acc good.
func (a *asm) refill(acc string) {
	a.op(`
		MOVQ (R10), SI
		BSWAPQ SI
		SHRXQ R9, SI, SI
		ORQ SI, %s
		MOVL R9, SI
		XORL $63, SI
		SHRL $3, SI
		ADDQ SI, R10
		ORL $56, R9`, acc)
}

// value makes DI the value behind a code: BX is acc behind the code, DX 63 minus the value's length. With one more
// bit in front, the complement of the first, the bits are a number in two's complement, one too small where negative.
func (a *asm) value() {
	a.op(`
		MOVQ BX, DI
		SARQ $1, DI
		XORQ k_top<>(SB), DI
		SARXQ DX, DI, DI
		ADDQ BX, BX
		SBBQ $-1, DI`)
}

// long points SI at the entry of a long code, its bits in AX, and goes on at label; without one it gives the MCU up.
func (a *asm) long(acc, label string) {
	a.op(`
		MOVBLZX 5(R11)(SI*8), AX
		TESTL AX, AX
		JZ giveup
		DECL AX
		SHLL $const_longBits, AX
		MOVQ %s, SI
		SHRQ $48, SI
		ANDL $(1<<const_longBits-1), SI
		LEAQ (acTable_long/8)(SI)(AX*1), SI
		MOVBLZX (R11)(SI*8), AX
		TESTL AX, AX
		JNZ %s
		JMP giveup`, acc, label)
}

// one makes DX the length of the first symbol alone of the entry at SI.
func (a *asm) one() {
	a.op(`
		MOVBLZX 1(R11)(SI*8), DX
		MOVBLZX 2(R11)(SI*8), AX
		SUBL AX, DX
		ADDL $63, DX`)
}

// symbols looks up one or two AC symbols at the top of in and leaves the rest in out.
func (a *asm) symbols(in, out, label string) {
	a.op(`
		MOVQ %[1]s, SI
		SHRQ $(64-const_acBits), SI
		MOVBLZX (R11)(SI*8), AX
		TESTL AX, AX
		JZ long%[2]s
		got%[2]s:
		MOVBLZX 1(R11)(SI*8), BX
		SHLXQ BX, %[1]s, BX
		MOVBLZX 2(R11)(SI*8), DX`, in, label)
	a.value()
	a.op(`
		MOVWLSX 6(R11)(SI*8), DX
		ADDB 3(R11)(SI*8), CL
		MOVL CX, BX
		ADDB 4(R11)(SI*8), CL
		SHLXQ AX, %[1]s, %[2]s
		SUBL AX, R9
		MOVBLZX (R12)(CX*1), AX
		MOVW DX, (R13)(AX*2)
		MOVBLZX (R12)(BX*1), AX
		MOVW DI, (R13)(AX*2)
		CMPL CX, $63
		JAE end%[3]s`, in, out, label)
}

// end finishes a block after symbols(in, out, label): acc goes to R8.
func (a *asm) end(in, out, label string) {
	a.op("end%s:", label)
	if out != "R8" {
		a.op("MOVQ %s, DI", in)
		a.op("MOVQ %s, R8", out)
		in = "DI"
	}
	a.op(`
		CMPL CX, $63
		JEQ blockdone
		CMPL BX, $63
		JEQ back%[1]s
		SUBL $128, CX
		CMPL CX, $62
		JLS blockdone
		JMP giveup
		back%[1]s:
		MOVQ %[2]s, R8
		MOVBLZX (R11)(SI*8), AX
		ADDL AX, R9`, label, in)
	a.one()
	a.op(`
		SUBL DX, R9
		SHLXQ DX, R8, R8
		MOVL $63, CX
		JMP blockdone`)
}

// skip writes the loop over the symbols of a block nobody wants, with acc in R14.
func (a *asm) skip() {
	a.op(`
		skip:
		XORL CX, CX
		skipmore:`)
	a.refill("R14")
	for range 2 {
		a.op(`
			MOVQ R14, SI
			SHRQ $(64-const_acBits), SI
			MOVBLZX acTable_skip(R11)(SI*4), AX
			TESTL AX, AX
			JZ skipone
			MOVBLZX acTable_skip+1(R11)(SI*4), DX
			ADDL CX, DX
			LEAL -64(DX), BX
			CMPL BX, $64
			JCS skipone
			CMPL DX, $190
			JHI skipone
			SHLXQ AX, R14, R14
			SUBL AX, R9
			MOVL DX, CX
			CMPL CX, $63
			JAE skipdone`)
	}
	a.op(`
		JMP skipmore
		skipone:
		MOVBLZX (R11)(SI*8), AX
		TESTL AX, AX
		JZ longskip
		gotskip:`)
	a.one()
	a.op(`
		SHLXQ DX, R14, R14
		SUBL DX, R9
		MOVBLZX 3(R11)(SI*8), AX
		ADDL AX, CX
		CMPL CX, $63
		JCS skipmore
		skipdone:
		MOVQ R14, R8
		CMPL CX, $63
		JEQ next
		CMPL CX, $128
		JAE next
		JMP giveup
		longskip:`)
	a.long("R14", "gotskip")
}

func (a *asm) entropy() {
	a.con("top", 8, -1<<63)
	params := "s *source, blocks *mcuBlock, count int, pred *int32, mx int, end int, limit int"
	a.code.WriteString("\n// func spanBMI2(" + params + ") int\n// Frame: the column of the block at hand, and blocks left.\nTEXT ·spanBMI2(SB), NOSPLIT, $16-64\n")
	a.op(`
		MOVQ s+0(FP), DI
		LEAQ source_buf(DI), AX
		ADDQ AX, limit+48(FP)
		MOVQ source_acc(DI), R8
		MOVQ source_n(DI), R9
		MOVQ source_p(DI), R10
		ADDQ AX, R10
		mcu:
		MOVQ s+0(FP), DI
		LEAQ source_buf(DI), AX
		MOVQ R10, BX
		SUBQ AX, BX
		MOVQ R8, source_acc(DI)
		MOVQ R9, source_n(DI)
		MOVQ BX, source_p(DI)
		MOVQ mx+32(FP), AX
		CMPQ AX, end+40(FP)
		JGE return
		CMPQ R10, limit+48(FP)
		JHI return
		MOVQ pred+24(FP), DX
		VMOVDQU (DX), X0
		MOVQ blocks+8(FP), R15
		MOVQ count+16(FP), AX
		MOVQ AX, left-16(SP)
		block:`)
	a.refill("R8")
	a.op(`
		MOVQ mcuBlock_dc(R15), DI
		MOVQ R8, SI
		SHRQ $(64-const_dcBits), SI
		MOVBLZX dcTable_t(DI)(SI*4), AX
		TESTL AX, AX
		JZ giveup
		MOVBLZX dcTable_t+1(DI)(SI*4), BX
		SHLXQ BX, R8, BX
		MOVBLZX dcTable_t+2(DI)(SI*4), DX`)
	a.value()
	a.op(`
		SHLXQ AX, R8, R14
		SUBL AX, R9
		MOVQ mcuBlock_k(R15), SI
		MOVQ pred+24(FP), DX
		ADDL (DX)(SI*4), DI
		MOVL DI, (DX)(SI*4)
		MOVQ mx+32(FP), BX
		IMULQ mcuBlock_step(R15), BX
		ADDQ mcuBlock_off(R15), BX
		MOVQ BX, at-8(SP)
		MOVQ mcuBlock_ac(R15), R11
		CMPQ BX, mcuBlock_lo(R15)
		JLT skip
		CMPQ BX, mcuBlock_hi(R15)
		JGE skip
		MOVQ mcuBlock_places(R15), R12
		MOVQ mcuBlock_coef(R15), R13
		SHLQ $7, BX
		ADDQ BX, R13
		MOVW DI, (R13)
		CMPB mcuBlock_dcOnly(R15), $0
		JNE skip
		XORL CX, CX
		JMP second
		PCALIGN $16
		first:`)
	a.refill("R8")
	a.symbols("R8", "R14", "1")
	a.op("second:")
	a.symbols("R14", "R8", "2")
	a.op("JMP first")
	a.end("R8", "R14", "1")
	a.end("R14", "R8", "2")
	a.op(`
		blockdone:
		MOVQ mcuBlock_last(R15), DX
		MOVQ at-8(SP), BX
		MOVB CX, (DX)(BX*1)
		next:
		ADDQ $mcuBlock__size, R15
		DECQ left-16(SP)
		JNZ block
		INCQ mx+32(FP)
		JMP mcu`)
	a.skip()
	for _, l := range []string{"R8 1", "R14 2"} {
		f := strings.Fields(l)
		a.op("long%s:", f[1])
		a.long(f[0], "got"+f[1])
	}
	a.op(`
		giveup:
		MOVQ pred+24(FP), DX
		VMOVDQU X0, (DX)
		return:
		MOVQ mx+32(FP), AX
		MOVQ AX, ret+56(FP)
		VZEROUPPER
		RET`)
}
