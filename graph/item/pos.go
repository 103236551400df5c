package item

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Pos is where an item stands in the logical stream: epoch, source, place in the epoch's order of that source, and the
// path of flat-map outputs that led to it. It is set once and never renumbered. It keys randomness and state, so it
// must not depend on workers, buffers or timing.
type Pos struct {
	Epoch  int64
	Source int    // number of the source in order of declaration
	Place  int64  // place in the epoch's sampler order; for an iterable, see [SplitPlace]
	Child  string // path of flat-map outputs, see [Pos.Down]; empty for an item that no flat-map made
}

// Down is the position of the i-th output that a flat-map made of the item at p. Paths are encoded so that comparing
// the strings compares the paths: each step is a length byte and that many big-endian bytes.
func (p Pos) Down(i int) Pos {
	p.Child += step(i)
	return p
}

func step(i int) string {
	var b [9]byte
	n := 8
	for v := uint64(i); v > 0; v >>= 8 {
		b[n] = byte(v)
		n--
	}
	b[n] = byte(8 - n)
	return string(b[n:])
}

// Compare orders positions by epoch, source, place and child path.
func (p Pos) Compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.Epoch, q.Epoch), cmp.Compare(p.Source, q.Source), cmp.Compare(p.Place, q.Place),
		strings.Compare(p.Child, q.Child))
}

// Children lists the steps of the child path.
func (p Pos) Children() []int {
	var steps []int
	for c := p.Child; c != ""; {
		n := int(c[0])
		v := 0
		for _, b := range []byte(c[1 : 1+n]) {
			v = v<<8 | int(b)
		}
		steps, c = append(steps, v), c[1+n:]
	}
	return steps
}

// String is the form used in messages: "epoch 0, place 12" or "epoch 0, source 1, place 12, output 3".
func (p Pos) String() string {
	s := fmt.Sprintf("epoch %d", p.Epoch)
	if p.Source != 0 {
		s += fmt.Sprintf(", source %d", p.Source)
	}
	if split, record, ok := p.Split(); ok {
		s += fmt.Sprintf(", split %d, record %d", split, record)
	} else {
		s += fmt.Sprintf(", place %d", p.Place)
	}
	for i, c := range p.Children() {
		if i == 0 {
			s += ", output "
		} else {
			s += "."
		}
		s += strconv.Itoa(c)
	}
	return s
}

// Iterable places keep the split in the high bits. The sign bit tells them from map-style places.
const (
	recordBits = 40
	splitFlag  = -1 << 63
)

// SplitPlace is the place of a record of an iterable: the split's turn in the epoch's split order and the record's
// number within the split. Limits: 2^23 splits an epoch, 2^40 records a split.
func SplitPlace(split int, record int64) int64 {
	return splitFlag | int64(split)<<recordBits | record
}

// Split takes a place made by [SplitPlace] apart; ok is false for a map-style place.
func (p Pos) Split() (split int, record int64, ok bool) {
	if p.Place >= 0 {
		return 0, 0, false
	}
	v := p.Place &^ splitFlag
	return int(v >> recordBits), v & (1<<recordBits - 1), true
}
