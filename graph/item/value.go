package item

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"
)

// Kind is the sort of a field's value.
type Kind uint8

// The kinds of values.
const (
	KindNone   Kind = iota
	KindInt         // one int64
	KindFloat       // one float64
	KindText        // a string
	KindBytes       // encoded or opaque bytes, of any length
	KindImage       // uint8, height × width × channels
	KindTensor      // numbers of one dtype with a shape
)

var kindNames = [...]string{"none", "int", "float", "text", "bytes", "image", "tensor"}

// String is the word used in schemas and messages.
func (k Kind) String() string { return kindNames[k] }

// DType is the type of a tensor's numbers. All are stored in the machine's own byte order.
type DType uint8

// The dtypes.
const (
	Uint8 DType = iota
	Int32
	Int64
	Float32
	Float64
)

var (
	dtypeNames = [...]string{"uint8", "int32", "int64", "float32", "float64"}
	dtypeSizes = [...]int{1, 4, 8, 4, 8}
)

// String is the dtype's name as NumPy and PyTorch write it.
func (d DType) String() string { return dtypeNames[d] }

// Size is the number of bytes of one number.
func (d DType) Size() int { return dtypeSizes[d] }

// MaxRank is the largest number of dimensions of a tensor.
const MaxRank = 6

// Shape holds up to [MaxRank] lengths; it is a value and can be compared with ==. A length of -1 stands for "any" in a
// schema and never in a value.
type Shape struct {
	rank int8
	dims [MaxRank]int32
}

// MakeShape makes a shape of the lengths. It panics above [MaxRank] dimensions or at a length that does not fit in 31
// bits: check lengths read from files with [CheckShape] before.
func MakeShape(dims ...int) Shape {
	var s Shape
	if len(dims) > MaxRank {
		panic(fmt.Sprintf("item: a shape has at most %d dimensions, got %d", MaxRank, len(dims)))
	}
	for i, d := range dims {
		if d < -1 || d > math.MaxInt32 {
			panic(fmt.Sprintf("item: length %d of dimension %d is out of range", d, i))
		}
		s.dims[i] = int32(d)
	}
	s.rank = int8(len(dims))
	return s
}

// CheckShape says whether numbers of dtype d in this shape fit in limit bytes, without overflow.
func CheckShape(d DType, dims []int64, limit int64) error {
	if len(dims) > MaxRank {
		return fmt.Errorf("%d dimensions, at most %d are supported", len(dims), MaxRank)
	}
	n := int64(d.Size())
	for i, l := range dims {
		if l < 0 || l > math.MaxInt32 {
			return fmt.Errorf("length %d of dimension %d is out of range", l, i)
		}
		if l > 0 && n > limit/l {
			return fmt.Errorf("shape %v of %v needs more than the limit of %d bytes", dims, d, limit)
		}
		n *= l
	}
	return nil
}

// Rank is the number of dimensions.
func (s Shape) Rank() int { return int(s.rank) }

// Dim is the length of dimension i.
func (s Shape) Dim(i int) int { return int(s.dims[i]) }

// Dims copies the lengths out.
func (s Shape) Dims() []int {
	d := make([]int, s.rank)
	for i := range d {
		d[i] = int(s.dims[i])
	}
	return d
}

// Elems is the product of the lengths; 1 for a scalar shape. It is -1 where a length is "any".
func (s Shape) Elems() int {
	n := 1
	for _, d := range s.dims[:s.rank] {
		if d < 0 {
			return -1
		}
		n *= int(d)
	}
	return n
}

// Prepend is the shape with one more dimension in front, as collate adds.
func (s Shape) Prepend(n int) Shape { return MakeShape(append([]int{n}, s.Dims()...)...) }

// Matches says whether a value of shape s fits the schema's shape want, where -1 means any length.
func (s Shape) Matches(want Shape) bool {
	if s.rank != want.rank {
		return false
	}
	for i := range s.dims[:s.rank] {
		if want.dims[i] >= 0 && s.dims[i] != want.dims[i] {
			return false
		}
	}
	return true
}

// String writes the shape as "3×224×224"; "scalar" without dimensions; "?" for any length.
func (s Shape) String() string {
	if s.rank == 0 {
		return "scalar"
	}
	var b strings.Builder
	for i, d := range s.dims[:s.rank] {
		if i > 0 {
			b.WriteString("×")
		}
		if d < 0 {
			b.WriteString("?")
		} else {
			fmt.Fprint(&b, d)
		}
	}
	return b.String()
}

// Value is one field of a sample. Its zero value is "none". Data of images, tensors and bytes may lie in a recycled
// [Buffer]; the value then owns one reference to it.
type Value struct {
	kind  Kind
	dtype DType
	shape Shape
	num   uint64
	text  string
	data  []byte
	buf   *Buffer
}

// Int is one integer.
func Int(v int64) Value { return Value{kind: KindInt, dtype: Int64, num: uint64(v)} }

// Float is one floating-point number.
func Float(v float64) Value { return Value{kind: KindFloat, dtype: Float64, num: math.Float64bits(v)} }

// Text is a string.
func Text(v string) Value { return Value{kind: KindText, text: v} }

// Bytes is b.Data as opaque bytes. It takes over the caller's reference to b.
func Bytes(b *Buffer) Value { return Value{kind: KindBytes, data: b.Data, buf: b} }

// HeapBytes is bytes on the ordinary heap, left to the garbage collector and never written to.
func HeapBytes(b []byte) Value { return Value{kind: KindBytes, data: b} }

// Picture is an image of uint8 in b, rows from the top, channels side by side. It takes over the caller's reference.
func Picture(b *Buffer, height, width, channels int) Value {
	s := MakeShape(height, width, channels)
	mustFit(b.Data, s.Elems())
	return Value{kind: KindImage, dtype: Uint8, shape: s, data: b.Data[:s.Elems()], buf: b}
}

// Tensor is numbers in b in row-major order. It takes over the caller's reference to b.
func Tensor(b *Buffer, d DType, s Shape) Value {
	n := s.Elems() * d.Size()
	mustFit(b.Data, n)
	return Value{kind: KindTensor, dtype: d, shape: s, data: b.Data[:n], buf: b}
}

func mustFit(b []byte, n int) {
	if n < 0 || len(b) < n {
		panic(fmt.Sprintf("item: value needs %d bytes, its buffer has %d", n, len(b)))
	}
}

// Kind is the sort of the value.
func (v *Value) Kind() Kind { return v.kind }

// DType is the type of its numbers; meaningful for all kinds but text and bytes.
func (v *Value) DType() DType { return v.dtype }

// Shape is height × width × channels of an image, the shape of a tensor, scalar else.
func (v *Value) Shape() Shape { return v.shape }

// Int is the integer of a KindInt value.
func (v *Value) Int() int64 { return int64(v.num) }

// Float is the number of a KindFloat value.
func (v *Value) Float() float64 { return math.Float64frombits(v.num) }

// Text is the string of a KindText value.
func (v *Value) Text() string { return v.text }

// Data is the bytes of an image, tensor or bytes value. It is valid until the value is replaced or released.
func (v *Value) Data() []byte {
	if v.buf != nil {
		v.buf.check()
	}
	return v.data
}

// Float32s views the data of a float32 tensor without a copy.
func (v *Value) Float32s() []float32 { return view[float32](v.Data(), v.dtype, Float32) }

// Float64s views the data of a float64 tensor without a copy.
func (v *Value) Float64s() []float64 { return view[float64](v.Data(), v.dtype, Float64) }

// Int32s views the data of an int32 tensor without a copy.
func (v *Value) Int32s() []int32 { return view[int32](v.Data(), v.dtype, Int32) }

// Int64s views the data of an int64 tensor without a copy.
func (v *Value) Int64s() []int64 { return view[int64](v.Data(), v.dtype, Int64) }

// view is the one place that reinterprets memory. Buffers come from make([]byte) of at least 8 bytes or from page-sized
// mappings, both aligned to 8.
func view[T any](b []byte, got, want DType) []T {
	if got != want {
		panic(fmt.Sprintf("item: view as %v of a %v tensor", want, got))
	}
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/want.Size())
}

// Bytes is how much memory the value holds.
func (v *Value) Bytes() int64 { return int64(len(v.data) + len(v.text)) }

// Shared says whether other holders see the same memory, so that a stage must copy before it writes in place.
func (v *Value) Shared() bool {
	return v.buf == nil && v.data != nil || v.buf != nil && v.buf.refs.Load() > 1
}

// Buffer is the recycled memory below the data, or nil.
func (v *Value) Buffer() *Buffer { return v.buf }

// Describe is a short form for messages: "image 224×224×3", "tensor float32 3×224×224", "bytes of 81234".
func (v *Value) Describe() string {
	switch v.kind {
	case KindImage:
		return "image " + v.shape.String()
	case KindTensor:
		return fmt.Sprintf("tensor %v %v", v.dtype, v.shape)
	case KindBytes:
		return fmt.Sprintf("bytes of %d", len(v.data))
	default:
		return v.kind.String()
	}
}

func (v *Value) release() {
	if v.buf != nil {
		v.buf.Release()
	}
	*v = Value{}
}

// Equal says whether two values hold the same thing, bit by bit.
func (v *Value) Equal(w *Value) bool {
	return v.kind == w.kind && v.dtype == w.dtype && v.shape == w.shape && v.num == w.num && v.text == w.text &&
		slices.Equal(v.data, w.data)
}
