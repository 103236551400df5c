package main

// weights writes filter.make for up to four taps, one position a turn: the same operations in double precision, so the
// same numbers. The four weights of a position are stored as they are, and packed: 16 bytes or, of up to two taps, 8. It
// returns the largest number of taps; where that is more than four, nothing is right. No sum is zero: the pixel that
// holds the center has at least a half. numbers are scale, support, 1/support, 0.5, 1, 1<<22, 0, 1, 2, 3.
func (a *asm) weights(name string, bytes int) {
	a.function(name, "numbers *float64, in int, out int, start *int32, count *int32, weight *int32, packed *uint32, index int, step int, room int",
		"AX", "R12", "CX", "DI", "SI", "R8", "R9", "DX", "R13", "R11")
	for i, r := range []int{15, 14, 13, 12, 11, 8} {
		a.op("VBROADCASTSD %d(AX), Y%d", 8*i, r)
	}
	a.op(`
		VMOVUPD 48(AX), Y9
		VPCMPEQD Y10, Y10, Y10
		VPSRLD $24, Y10, Y7
		VPSRLQ $1, Y10, Y10
		VXORPD Y6, Y6, Y6
		VXORPD X5, X5, X5
		XORL R10, R10
		turn:
		VADDSD X12, X5, X0
		VADDSD X11, X5, X5
		VMULSD X15, X0, X0
		VSUBSD X14, X0, X1
		VADDSD X12, X1, X1
		VCVTTSD2SIQ X1, AX
		MOVQ AX, BX
		SARQ $63, BX
		NOTQ BX
		ANDQ BX, AX
		VADDSD X14, X0, X1
		VADDSD X12, X1, X1
		VCVTTSD2SIQ X1, BX
		CMPQ BX, R12
		CMOVQGT R12, BX
		SUBQ AX, BX
		CMPQ BX, R10
		CMOVQGT BX, R10
		MOVL AX, (DI)(DX*4)
		MOVL BX, (SI)(DX*4)
		VCVTSI2SDQ AX, X6, X1
		VBROADCASTSD X1, Y1
		VBROADCASTSD X0, Y0
		VADDPD Y9, Y1, Y1
		VSUBPD Y0, Y1, Y1
		VADDPD Y12, Y1, Y1
		VMULPD Y13, Y1, Y1
		VANDPD Y10, Y1, Y1
		VSUBPD Y1, Y11, Y1
		VMAXPD Y6, Y1, Y1
		VCVTSI2SDQ BX, X6, X2
		VBROADCASTSD X2, Y2
		VCMPPD $1, Y2, Y9, Y2
		VANDPD Y2, Y1, Y1
		VEXTRACTF128 $1, Y1, X2
		VUNPCKHPD X1, X1, X3
		VADDSD X3, X1, X3
		VADDSD X2, X3, X3
		VUNPCKHPD X2, X2, X2
		VADDSD X2, X3, X3
		VBROADCASTSD X3, Y3
		VDIVPD Y3, Y1, Y1
		VMULPD Y8, Y1, Y1
		VADDPD Y12, Y1, Y1
		VCVTTPD2DQY Y1, X1
		VMOVDQU X1, (R8)
		VPSRLD $8, X1, X2
		VPAND X7, X1, X1
		VPACKUSDW X1, X2, X2
		VPSHUFD $0xd8, X2, X2`)
	if bytes == 16 {
		a.op("MOVQ DX, BX\nSHLQ $4, BX\nVMOVDQU X2, (R9)(BX*1)")
	} else {
		a.op("VMOVQ X2, (R9)(DX*8)")
	}
	a.op(`
		ADDQ R13, DX
		ADDQ R11, R8
		SUBQ $1, CX
		JNZ turn
		MOVQ R10, ret+80(FP)
		VZEROUPPER
		RET`)
}
