//go:build !amd64 || noasm

package jpeg

// Machines without kernels take the Go forms.

const haveKernels = false

var vector = natural

func (d *Decoder) spanFast(mx, end int) (int, bool) { panic("unreachable") }
func transformRow(out []byte, stride int, coef []int16, quant *[64]int16, last []uint8, n int) {
	panic("unreachable")
}
func widen1Row(line, near []byte, n int)      { panic("unreachable") }
func widen2Row(line, near, far []byte, n int) { panic("unreachable") }
func yccRow(dst, y, cb, cr []byte, n int)     { panic("unreachable") }
