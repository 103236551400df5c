package jpeg

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var full = flag.Bool("jpeg.full", false, "compare 2,400 pictures with djpeg, not 300")

// sampleCase is one way to make a JPEG with cjpeg.
type sampleCase struct {
	w, h int
	args []string
}

func (c sampleCase) String() string {
	return fmt.Sprintf("%dx%d %s", c.w, c.h, strings.Join(c.args, " "))
}

// tooWide are layouts of more than 10 blocks in an MCU: they must have a scan for each component.
var tooWide = map[string]bool{"4x2,2x2,1x1": true, "3x3,1x1,1x1": true, "4x4,2x2,4x4": true}

// scripts are scan scripts for cjpeg: sequential ones of several scans, and progressive ones unlike its own.
var scripts = map[string]string{
	"apart": "0;\n1;\n2;\n",
	"pair":  "0;\n1 2;\n",
	"prog1": "0 1 2: 0-0, 0, 0;\n0: 1-63, 0, 0;\n2: 1-63, 0, 0;\n1: 1-63, 0, 0;\n",
	"prog2": "0: 0-0, 0, 3;\n2: 0-0, 0, 0;\n1: 0-0, 0, 1;\n0: 1-5, 0, 3;\n0: 6-63, 0, 4;\n1: 1-63, 0, 2;\n2: 1-63, 0, 1;\n0: 0-0, 3, 2;\n" +
		"0: 6-63, 4, 3;\n0: 1-63, 3, 2;\n0: 0-0, 2, 1;\n1: 0-0, 1, 0;\n0: 1-63, 2, 1;\n2: 1-63, 1, 0;\n1: 1-63, 2, 1;\n0: 0-0, 1, 0;\n0: 1-63, 1, 0;\n1: 1-63, 1, 0;\n",
}

var layouts = []string{"1x1", "2x1", "2x2", "1x2", "4x1", "4x2", "1x4", "2x4", "4x1,1x1,1x1", "2x2,2x1,2x1", "2x2,1x2,1x2", "2x2,2x1,1x2", "2x1,2x1,1x1",
	"4x2,2x2,1x1", "3x1", "1x3", "3x2", "3x3,1x1,1x1", "2x2,2x2,1x1", "1x1,2x2,1x1", "1x2,1x1,1x2", "4x4,2x2,4x4", "2x2,1x1,2x1", "4x1,2x1,2x1"}

// picture makes a PPM: noise, gradients, hard edges, or smooth blobs.
func picture(r *rand.Rand, w, h int) []byte {
	b := fmt.Appendf(nil, "P6\n%d %d\n255\n", w, h)
	kind := r.Intn(4)
	f := [3]int{r.Intn(9) - 4, r.Intn(9) - 4, r.Intn(9) - 4}
	for y := range h {
		for x := range w {
			for c := range 3 {
				v := 0
				switch kind {
				case 0:
					v = r.Intn(256)
				case 1:
					v = (x*f[c] + y*f[2-c] + c*40) % 300
				case 2:
					v = 255 * ((x/(3+c) + y/5) & 1)
				default:
					v = 128 + (x*x*f[c]/(w+1)-y*x*f[2-c]/(h+1))/4 + r.Intn(12)
				}
				b = append(b, byte(min(max(v, 0), 255)))
			}
		}
	}
	return b
}

// randomCase covers sizes, layouts, qualities, restart intervals and modes.
func randomCase(r *rand.Rand, i int) sampleCase {
	size := func() int {
		switch r.Intn(3) {
		case 0:
			return 1 + r.Intn(20)
		case 1:
			return 1 + r.Intn(80)
		}
		return 1 + r.Intn(300)
	}
	c := sampleCase{w: size(), h: size()}
	c.args = []string{"-quality", fmt.Sprint([]int{1, 10, 25, 50, 75, 85, 90, 95, 98, 100}[r.Intn(10)])}
	switch l := i % (len(layouts) + 2); {
	case l < len(layouts):
		c.args = append(c.args, "-sample", layouts[l])
	case l == len(layouts):
		c.args = append(c.args, "-grayscale")
	default:
		c.args = append(c.args, "-rgb")
	}
	mode := r.Intn(6)
	if l := i % (len(layouts) + 2); l < len(layouts) && tooWide[layouts[l]] {
		mode = 5
	} else if l == len(layouts) && mode > 3 {
		mode = 0
	}
	switch mode {
	case 0, 1:
		c.args = append(c.args, "-progressive")
	case 2:
		c.args = append(c.args, "-optimize")
	case 4:
		c.args = append(c.args, "-scans", []string{"pair", "prog1"}[r.Intn(2)])
	case 5:
		c.args = append(c.args, "-scans", []string{"apart", "prog2"}[r.Intn(2)])
	}
	switch r.Intn(4) {
	case 0:
		c.args = append(c.args, "-restart", fmt.Sprint(1+r.Intn(3)))
	case 1:
		c.args = append(c.args, "-restart", fmt.Sprintf("%dB", 1+r.Intn(40)))
	}
	return c
}

func tool(t testing.TB, name string) {
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed (libjpeg-turbo-progs)", name)
	}
}

func pipe(t testing.TB, in []byte, name string, args ...string) []byte {
	cmd := exec.Command(name, args...)
	cmd.Stdin = bytes.NewReader(in)
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	require.NoError(t, cmd.Run(), "%s %v: %s", name, args, msg.String())
	return out.Bytes()
}

// pnm splits a P5 or P6 file and spreads grey to RGB.
func pnm(t testing.TB, b []byte) (w, h int, px []byte) {
	var kind, top int
	_, err := fmt.Fscanf(bytes.NewReader(b), "P%d\n%d %d\n%d\n", &kind, &w, &h, &top)
	require.NoError(t, err)
	if kind == 6 {
		return w, h, b[len(b)-w*h*3:]
	}
	px = make([]byte, 0, 3*w*h)
	for _, v := range b[len(b)-w*h:] {
		px = append(px, v, v, v)
	}
	return w, h, px
}

// decoders gives the machine's decoder and its Go twin.
func decoders() map[string]*Decoder {
	m := map[string]*Decoder{"go": {pure: true}}
	if haveKernels {
		m["kernels"] = new(Decoder)
	}
	return m
}

func TestPixelsEqualDjpegs(t *testing.T) {
	tool(t, "cjpeg")
	tool(t, "djpeg")
	n := 300
	if *full {
		n = 2400
	}
	dir := t.TempDir()
	for name, text := range scripts {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	ds := decoders()
	r := rand.New(rand.NewSource(3))
	kinds := map[string]int{}
	for i := range n {
		c := randomCase(r, i)
		if k := slices.Index(c.args, "-scans"); k >= 0 {
			c.args[k+1] = filepath.Join(dir, c.args[k+1])
		}
		data := pipe(t, picture(r, c.w, c.h), "cjpeg", c.args...)
		comparePicture(t, ds, r, c, data)
		info, err := Header(data)
		require.NoError(t, err)
		kinds[info.Layout()]++
	}
	t.Logf("%d pictures equal; layouts %v", n, kinds)
}

func TestFourComponentPixelsEqualDjpegs(t *testing.T) {
	tool(t, "djpeg")
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	if exec.Command(python, "-c", "import PIL").Run() != nil {
		t.Skip("Pillow is not installed (python3-pil); PYTHON names another interpreter")
	}
	n := 40
	if *full {
		n = 300
	}
	dir := t.TempDir()
	pipe(t, nil, python, "testdata/cmyk.py", dir, fmt.Sprint(n))
	files, err := filepath.Glob(filepath.Join(dir, "*.jpg"))
	require.NoError(t, err)
	require.Len(t, files, n)
	ds := decoders()
	r := rand.New(rand.NewSource(4))
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		comparePicture(t, ds, r, sampleCase{args: []string{f}}, data)
	}
	t.Logf("%d pictures equal", n)
}

func comparePicture(t *testing.T, ds map[string]*Decoder, r *rand.Rand, c fmt.Stringer, data []byte) {
	for _, scale := range []int{1, 2, 4, 8} {
		w, h, want := pnm(t, pipe(t, data, "djpeg", "-pnm", "-scale", fmt.Sprintf("1/%d", scale)))
		for name, d := range ds {
			who := fmt.Sprintf("%s, %s, 1/%d", c, name, scale)
			compareWhole(t, d, r, who, data, scale, w, h, want)
		}
	}
}

func compareWhole(t *testing.T, d *Decoder, r *rand.Rand, who string, data []byte, scale, w, h int, want []byte) {
	info, err := Header(data)
	require.NoError(t, err, who)
	var ix Index
	opt := Options{Scale: scale, MakeIndex: &ix, IndexRows: 1 + r.Intn(3), IndexCols: r.Intn(5)}
	gw, gh := info.OutputSize(opt)
	require.Equal(t, []int{w, h}, []int{gw, gh}, who)
	got := make([]byte, w*h*3)
	res, err := d.Decode(got, data, opt)
	require.NoError(t, err, who)
	require.True(t, res.Whole)
	if !bytes.Equal(want, got) {
		i := 0
		for want[i] == got[i] {
			i++
		}
		require.FailNow(t, "pixels differ", "%s %s: first at %d,%d channel %d: djpeg %d, here %d", who, info.Layout(), i/3%w, i/3/w, i%3, want[i], got[i])
	}
	for range 3 {
		region := randomRegion(r, info.Width, info.Height)
		opt := Options{Scale: scale, Region: region}
		compareRegion(t, d, who, data, opt, w, want)
		if len(ix) > 0 {
			opt.Index = ix
			compareRegion(t, d, who+", index", data, opt, w, want)
		}
	}
}

func randomRegion(r *rand.Rand, w, h int) image.Rectangle {
	x, y := r.Intn(w), r.Intn(h)
	return image.Rect(x, y, x+1+r.Intn(w-x), y+1+r.Intn(h-y))
}

// compareRegion decodes a region and compares it with the same part of the whole, w pixels wide.
func compareRegion(t testing.TB, d *Decoder, who string, data []byte, opt Options, w int, whole []byte) {
	info, err := Header(data)
	require.NoError(t, err)
	rw, rh := info.OutputSize(opt)
	opt.Stride = 3*rw + 5
	got := make([]byte, opt.Stride*(rh-1)+3*rw)
	_, err = d.Decode(got, data, opt)
	require.NoError(t, err, "%s %v", who, opt.Region)
	x, y := opt.Region.Min.X/max(opt.Scale, 1), opt.Region.Min.Y/max(opt.Scale, 1)
	for i := range rh {
		a, b := whole[((y+i)*w+x)*3:][:3*rw], got[i*opt.Stride:][:3*rw]
		if !bytes.Equal(a, b) {
			require.FailNow(t, "region differs", "%s %s region %v row %d", who, info.Layout(), opt.Region, i)
		}
	}
}
