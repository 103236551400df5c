// Package resize scales pictures of 8-bit channels as Pillow does: antialiased bilinear, in fixed point, the same bytes
// on every processor. In the same pass over memory it crops, mirrors, and makes float32 tensors.
//
//	var s resize.Scaler // keep one for each worker
//	norm := resize.Normal([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}) // one for all
//	src := resize.Packed(pix, 500, 375, 3).At(0, 0)
//	job := resize.Job{Box: resize.Box{X: 80, Y: 40, W: 300, H: 300}, Width: 224, Height: 224, Flip: true}
//	s.Floats(tensor, src, job, norm)                    // channels × height × width
//	s.Bytes(resize.Packed(out, 224, 224, 3), src, job) // height × width × channels
//
// # Pixels
//
// The result is that of Image.crop(...).resize(..., BILINEAR) of Pillow, byte for byte in the fixtures of testdata: what
// lies outside the box has no part in it. (Pillow 13 and later go down before they go across where that is cheaper, and
// may then differ by 1.) PyTorch's and torchvision's antialiased resize of uint8 follow the same rule.
//
// # Parts of pictures
//
// A box is in pixels of the whole picture, whatever part of it is there: [Job.Source] says what a decoder has to make,
// [View.At] where a decoded region lies, and [Scaler.Band] takes rows as they are decoded. The result is the same.
//
// # Kernels
//
// The AVX2 kernels and their Go forms give the same bytes on every input: all sums are exact. A weight of 22 bits is
// split into 14 and 8 for 16-bit multiplications, whose sums are kept apart. Normalized numbers are computed with fused
// multiply-add only where the results of all 256 values are those of the table. The CPU is asked at run time; the build
// tag noasm leaves the kernels out; other processors take the Go forms.
//
// Nothing here starts a goroutine or knows about pipelines.
package resize
