package resize_test

import (
	"fmt"

	"github.com/penstock-go/penstock/stages/resize"
)

// A decoder made only the part of a picture that the box needs; the box is still that of the whole picture.
func ExampleScaler_Floats() {
	job := resize.Job{Box: resize.Box{X: 100, Y: 50, W: 4, H: 2}, Width: 2, Height: 1, Flip: true}
	need := job.Source()
	part := resize.Packed([]byte{
		0, 0, 255, 255,
		0, 0, 255, 255,
	}, need.W, need.H, 1)

	var s resize.Scaler
	tensor := make([]float32, 1*1*2)
	s.Floats(tensor, part.At(need.X, need.Y), job, resize.Normal([]float64{0.5}, []float64{0.5}))
	fmt.Println(tensor)
	// Output: [0.7176471 -0.7176471]
}

func ExampleScaler_Band() {
	var s resize.Scaler
	out := resize.Packed(make([]byte, 2), 2, 1, 1)
	s.BeginBytes(out, resize.Job{Box: resize.Box{W: 4, H: 4}, Width: 2, Height: 1})
	band := resize.Packed(make([]byte, 8), 4, 2, 1) // two rows at a time, in the same memory
	for y, v := range []byte{10, 30} {
		for i := range band.Pix {
			band.Pix[i] = v
		}
		fmt.Println(s.Band(band.At(0, 2*y)))
	}
	fmt.Println(out.Pix)
	// Output:
	// false
	// true
	// [20 20]
}
