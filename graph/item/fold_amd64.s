//go:build amd64 && !noasm

#include "textflag.h"

// func foldAVX2(lanes *[8]uint64, keys *[24]uint64, data []byte)
// Y0 and Y1 are the lanes. A stripe's keys begin 8 bytes after those of the stripe before.
TEXT ·foldAVX2(SB), NOSPLIT, $0-40
	MOVQ lanes+0(FP), DI
	MOVQ keys+8(FP), BX
	MOVQ data_base+16(FP), SI
	MOVQ data_len+24(FP), CX
	SHRQ $10, CX
	VMOVDQU (DI), Y0
	VMOVDQU 32(DI), Y1
	VMOVDQU 128(BX), Y8
	VMOVDQU 160(BX), Y9
	MOVQ $0x9E3779B1, AX
	VMOVQ AX, X10
	VPBROADCASTQ X10, Y10

block:
	MOVQ BX, DX
	MOVQ $16, R8

stripe:
	VMOVDQU (SI), Y2
	VMOVDQU 32(SI), Y3
	VPXOR (DX), Y2, Y4
	VPXOR 32(DX), Y3, Y5
	VPSHUFD $0x31, Y4, Y6
	VPSHUFD $0x31, Y5, Y7
	VPMULUDQ Y4, Y6, Y4
	VPMULUDQ Y5, Y7, Y5
	VPSHUFD $0x4E, Y2, Y2
	VPSHUFD $0x4E, Y3, Y3
	VPADDQ Y2, Y0, Y0
	VPADDQ Y3, Y1, Y1
	VPADDQ Y4, Y0, Y0
	VPADDQ Y5, Y1, Y1
	ADDQ $64, SI
	ADDQ $8, DX
	DECQ R8
	JNZ stripe

	VPSRLQ $47, Y0, Y2
	VPSRLQ $47, Y1, Y3
	VPXOR Y2, Y0, Y0
	VPXOR Y3, Y1, Y1
	VPXOR Y8, Y0, Y0
	VPXOR Y9, Y1, Y1
	VPSRLQ $32, Y0, Y2
	VPSRLQ $32, Y1, Y3
	VPMULUDQ Y10, Y0, Y0
	VPMULUDQ Y10, Y1, Y1
	VPMULUDQ Y10, Y2, Y2
	VPMULUDQ Y10, Y3, Y3
	VPSLLQ $32, Y2, Y2
	VPSLLQ $32, Y3, Y3
	VPADDQ Y2, Y0, Y0
	VPADDQ Y3, Y1, Y1
	DECQ CX
	JNZ block

	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VZEROUPPER
	RET

// func cpuid(op, sub uint32) (a, b, c, d uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL op+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, a+8(FP)
	MOVL BX, b+12(FP)
	MOVL CX, c+16(FP)
	MOVL DX, d+20(FP)
	RET

// func xgetbv() uint32
TEXT ·xgetbv(SB), NOSPLIT, $0-4
	XORL CX, CX
	XGETBV
	MOVL AX, ret+0(FP)
	RET
