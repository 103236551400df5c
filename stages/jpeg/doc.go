// Package jpeg decodes JPEG pictures for training: the pixels of libjpeg-turbo's default settings (accurate integer
// inverse DCT, triangle upsampling), but only as much work as the wanted part needs.
//
//	info, err := jpeg.Header(data) // size, layout, orientation; decodes nothing
//	if err != nil {
//		return err
//	}
//	var d jpeg.Decoder // keep one for each worker
//	opt := jpeg.Options{Region: image.Rect(100, 80, 324, 304)}
//	w, h := info.OutputSize(opt)
//	pix := make([]byte, w*h*3)
//	res, err := d.Decode(pix, data, opt) // RGB, rows of w*3 bytes
//
// # What it reads
//
// Baseline, extended sequential and progressive Huffman pictures of 8 bits; one, three or four components in every
// sampling layout libjpeg-turbo takes; restart markers; several scans; fill bytes, rubbish between segments and after
// the end. Arithmetic coding, 12 bits, lossless and hierarchical files, and pictures of two components, give an error
// that [ErrUnsupported] matches.
//
// # Colours
//
// One component is grey. Three are YCbCr, unless an Adobe mark says RGB (and no JFIF mark says otherwise) or the
// components are named R, G and B. Four are CMYK, or YCCK where an Adobe mark says so. Four-component pictures are
// taken as inverted, as Adobe writes them, with or without its mark: that is what Pillow and djpeg do. They come out
// as RGB: red is C*K/255 of the stored values, rounded. No colour profile is applied.
//
// # Orientation
//
// Regions, sizes and pixels are those of the stored picture. [Info] tells the EXIF orientation; turning is the
// caller's.
//
// # Whole and broken pictures
//
// Strict (the default): anything that would make a wanted pixel wrong is an error: data that end early, codes that do
// not exist, a restart marker missing or out of turn, a progressive picture some of whose scans never came. A missing
// end marker is no error where all coefficients are there. Rubbish after the last block is no error.
//
// Lenient: what can be decoded is; after damage decoding goes on at the next restart marker or scan, and blocks that
// were lost are grey (all coefficients zero). [Result] then says that the picture is not whole, and why. A broken
// header is an error in both.
//
// Both look only at what they decode: damage below the wanted region goes unseen, for decoding stops there.
//
// # Every input, every machine
//
// The AVX2 kernels and their Go twins give the same bytes on every input, hostile ones included. The rule: products
// of coefficient and quantizer are taken modulo 2^16, sums are exact, values between the two passes of the transform
// saturate to 16 bits, and samples saturate to 0..255. No encoder makes a picture that comes near those bounds. The
// build tag noasm leaves the kernels out.
package jpeg
