//go:build !amd64 || noasm

package resize

// Machines without kernels take the Go forms.

const haveKernels, haveFMA = false, false

func acrossRows(dst, dst2, src, src2 []byte, f *filter)                   { panic("unreachable") }
func downRow(dst, src []byte, stride int, f *filter, i int)               { panic("unreachable") }
func planesRow(red, green, blue []float32, src []byte, t *Tables)         { panic("unreachable") }
func normalRow(red, green, blue []float32, src []byte, k *[14][8]float32) { panic("unreachable") }

func (f *filter) fewTaps(scale, support float64, taps int) bool { panic("unreachable") }
