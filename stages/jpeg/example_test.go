package jpeg_test

import (
	"errors"
	"fmt"
	"image"
	"log"
	"os"

	"github.com/penstock-go/penstock/stages/jpeg"
)

func ExampleHeader() {
	data, err := os.ReadFile("testdata/prog_2x1.jpg")
	if err != nil {
		log.Fatal(err)
	}
	info, err := jpeg.Header(data)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Width, info.Height, info.Layout(), info.Colour, "progressive:", info.Progressive, "orientation:", info.Orientation)
	// Output: 39 34 4:2:2 YCbCr progressive: true orientation: 1
}

func ExampleDecoder_Decode() {
	data, err := os.ReadFile("testdata/restart.jpg")
	if err != nil {
		log.Fatal(err)
	}
	info, err := jpeg.Header(data)
	if err != nil {
		log.Fatal(err)
	}
	var d jpeg.Decoder
	opt := jpeg.Options{Region: image.Rect(10, 10, 74, 42), Scale: 2}
	w, h := info.OutputSize(opt)
	pix := make([]byte, w*h*3)
	res, err := d.Decode(pix, data, opt)
	fmt.Println(res.Width, res.Height, res.Whole, err)
	// Output: 32 16 true <nil>
}

// A picture that is cut short: an error, or what is there and a note.
func ExampleDecoder_Decode_lenient() {
	data, err := os.ReadFile("testdata/fault_cut60.jpg")
	if err != nil {
		log.Fatal(err)
	}
	var d jpeg.Decoder
	pix := make([]byte, 96*64*3)
	_, err = d.Decode(pix, data, jpeg.Options{})
	fmt.Println(errors.Is(err, jpeg.ErrCutShort), err)
	res, err := d.Decode(pix, data, jpeg.Options{Lenient: true})
	fmt.Println(res.Whole, res.Damage, err)
	// Output:
	// true jpeg: the picture is cut short: 1 of 4 block rows decoded at byte 1120
	// false jpeg: the picture is cut short: 1 of 4 block rows decoded at byte 1120 <nil>
}

// The first epoch makes an index, later ones start at the crop.
func ExampleIndex() {
	data, err := os.ReadFile("testdata/seq_2x2.jpg")
	if err != nil {
		log.Fatal(err)
	}
	var d jpeg.Decoder
	var index jpeg.Index
	pix := make([]byte, 43*31*3)
	if _, err := d.Decode(pix, data, jpeg.Options{MakeIndex: &index}); err != nil {
		log.Fatal(err)
	}
	_, err = d.Decode(pix, data, jpeg.Options{Region: image.Rect(0, 20, 8, 28), Index: index})
	fmt.Println(len(index), "bytes,", err)
	_, err = d.Decode(pix, append(data, 0), jpeg.Options{Index: index})
	fmt.Println(errors.Is(err, jpeg.ErrIndex))
	// Output:
	// 54 bytes, <nil>
	// true
}

func ExampleInfo_OutputSize() {
	info := jpeg.Info{Width: 500, Height: 375}
	fmt.Println(info.OutputSize(jpeg.Options{Scale: 8}))
	// Output: 63 47
}
