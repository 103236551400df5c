package item

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Sample is one example: a key that names it in messages, and named fields in a fixed order. It is recycled: after
// Release the pointer must not be used. Field look-up is linear; samples have few fields.
type Sample struct {
	key    string
	names  []string
	values []Value
	dead   bool
}

var samples = sync.Pool{New: func() any { return new(Sample) }}

// NewSample is an empty sample with this key.
func NewSample(key string) *Sample {
	s := samples.Get().(*Sample)
	s.key, s.dead = key, false
	return s
}

// Key names the sample in errors, reports and quarantine files: a path, a member of an archive, a row.
func (s *Sample) Key() string { return s.key }

// Len is the number of fields; Field gives the i-th name and value.
func (s *Sample) Len() int { return len(s.names) }

// Field is the i-th field, in the order in which fields were first set.
func (s *Sample) Field(i int) (string, *Value) {
	s.check()
	return s.names[i], &s.values[i]
}

// Get finds a field, or gives nil.
func (s *Sample) Get(name string) *Value {
	s.check()
	for i, n := range s.names {
		if n == name {
			return &s.values[i]
		}
	}
	return nil
}

// Need finds a field of a wanted kind; the error names the field, what is there and what was wanted.
func (s *Sample) Need(name string, k Kind) (*Value, error) {
	v := s.Get(name)
	if v == nil {
		return nil, fmt.Errorf("field %q is missing; the sample has %s", name, quoted(s.names))
	}
	if v.kind != k {
		return nil, fmt.Errorf("field %q is %v, wanted %v", name, v.kind, k)
	}
	return v, nil
}

func quoted(names []string) string {
	if len(names) == 0 {
		return "no fields"
	}
	return `"` + strings.Join(names, `", "`) + `"`
}

// Set adds a field or replaces one; a replaced value is released. The sample takes over the value's reference.
func (s *Sample) Set(name string, v Value) {
	if old := s.Get(name); old != nil {
		if old.buf != v.buf || v.buf == nil {
			old.release()
		}
		*old = v
		return
	}
	s.names, s.values = append(s.names, name), append(s.values, v)
}

// Drop removes a field and releases its value.
func (s *Sample) Drop(name string) {
	for i, n := range s.names {
		if n == name {
			s.values[i].release()
			s.names = append(s.names[:i], s.names[i+1:]...)
			s.values = append(s.values[:i], s.values[i+1:]...)
			return
		}
	}
}

// Bytes is how much memory the fields hold.
func (s *Sample) Bytes() int64 {
	n := int64(len(s.key))
	for i := range s.values {
		n += s.values[i].Bytes()
	}
	return n
}

// Release gives the fields' memory back and the sample itself up.
func (s *Sample) Release() {
	s.check()
	for i := range s.values {
		s.values[i].release()
	}
	s.names, s.values, s.key, s.dead = s.names[:0], s.values[:0], "", true
	if !checked { // under the race detector dead samples stay dead, so that late uses are found
		samples.Put(s)
	}
}

func (s *Sample) check() {
	if checked && s.dead {
		panic("item: sample used after its release")
	}
}

// Hash is the xxhash64 of key, field names, kinds, shapes and bytes: what a run's digest is made of. Bytes of a field
// from 1,024 on are folded to 64 and a rest first, see fold.go. Cost: BenchmarkSampleHash.
func (s *Sample) Hash() uint64 {
	var h xxhash.Digest
	h.Reset()
	writeText(&h, s.key)
	for i, n := range s.names {
		writeText(&h, n)
		v := &s.values[i]
		hashValue(&h, v.kind, v.dtype, v.shape, v.num, v.text, v.Data())
	}
	return h.Sum64()
}

func writeText(h *xxhash.Digest, s string) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(len(s)))
	_, _ = h.Write(b[:])
	_, _ = h.WriteString(s)
}

func hashValue(h *xxhash.Digest, k Kind, d DType, s Shape, num uint64, text string, data []byte) {
	var b [8 + MaxRank*4 + 8]byte
	b[0], b[1], b[2] = byte(k), byte(d), byte(s.rank)
	for i, l := range s.dims[:s.rank] {
		binary.LittleEndian.PutUint32(b[8+4*i:], uint32(l))
	}
	binary.LittleEndian.PutUint64(b[8+MaxRank*4:], num)
	_, _ = h.Write(b[:])
	writeText(h, text)
	binary.LittleEndian.PutUint64(b[:], uint64(len(data)))
	_, _ = h.Write(b[:8])
	if len(data) < foldBlock {
		_, _ = h.Write(data)
		return
	}
	var folded [2 * foldStripe]byte
	n := foldedLen(len(data))
	fold(folded[:n], data)
	_, _ = h.Write(folded[:n])
}
