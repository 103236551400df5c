// Package resize scales pictures of 8-bit channels as Pillow does: antialiased bilinear, in fixed point, the same bytes
// on every processor.
//
//	var s resize.Scaler // keep one for each worker
//	src := resize.View{Pix: pix, Width: 500, Height: 375, Stride: 1500, Channels: 3}
//	dst := resize.View{Pix: out, Width: 224, Height: 224, Stride: 672, Channels: 3}
//	s.Bilinear(dst, src.Crop(80, 40, 300, 300))
//
// The result is that of Image.crop(...).resize(..., BILINEAR) of Pillow, byte for byte in the fixtures of testdata: what
// lies outside the crop has no part in it. (Pillow 13 and later go down before they go across where that is cheaper, and
// may then differ by 1.) PyTorch's and torchvision's antialiased resize of uint8 follow the same rule.
// Nothing here starts a goroutine or knows about pipelines.
package resize
