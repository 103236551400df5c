package registry

import (
	"fmt"
	"strconv"
	"time"
)

// Rule limits the values of a field.
type Rule struct {
	kind ruleKind
	x    float64
	lo   int
	hi   int
}

type ruleKind uint8

const (
	atLeast ruleKind = iota
	atMost
	over
	under
	required
	length
)

// Number is what a bound is given in: the field's own unit, for a time a [time.Duration], for a size bytes.
type Number interface {
	~int | ~int64 | ~uint64 | ~float64
}

// Min is the least value; of a list, of each element.
func Min[N Number](x N) Rule { return Rule{kind: atLeast, x: float64(x)} }

// Max is the largest value.
func Max[N Number](x N) Rule { return Rule{kind: atMost, x: float64(x)} }

// Over asks for more than x.
func Over[N Number](x N) Rule { return Rule{kind: over, x: float64(x)} }

// Under asks for less than x.
func Under[N Number](x N) Rule { return Rule{kind: under, x: float64(x)} }

// Required refuses a field that is not given. Such a field has no default.
func Required() Rule { return Rule{kind: required} }

// Length limits the number of elements of a list or of bytes of a text. hi = 0 sets no upper limit.
func Length(lo, hi int) Rule { return Rule{kind: length, lo: lo, hi: hi} }

// unit prints a bound or a value of a field as its author would write it.
type unit func(x float64) string

func plainUnit(x float64) string {
	if x == float64(int64(x)) && x < 1e15 && x > -1e15 {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func timeUnit(x float64) string { return time.Duration(x).String() }

func sizeUnit(x float64) string { return FormatSize(int64(x)) }

// Bounds are the least and the largest value that the rules allow, and whether the bound itself is left out. A nil bound
// is none. Lengths are not looked at.
func (f Field) Bounds() (lo, hi *float64, loOpen, hiOpen bool) {
	for _, r := range f.Rules {
		switch x := r.x; r.kind {
		case atLeast, over:
			lo, loOpen = &x, r.kind == over
		case atMost, under:
			hi, hiOpen = &x, r.kind == under
		}
	}
	return lo, hi, loOpen, hiOpen
}

// Lengths are the least and the largest length; hi = 0 is no limit.
func (f Field) Lengths() (lo, hi int) {
	for _, r := range f.Rules {
		if r.kind == length {
			lo, hi = r.lo, r.hi
		}
	}
	return lo, hi
}

// text is the rule in words: "at least 1".
func (r Rule) text(u unit) string {
	switch r.kind {
	case atLeast:
		return "at least " + u(r.x)
	case atMost:
		return "at most " + u(r.x)
	case over:
		return "more than " + u(r.x)
	case under:
		return "less than " + u(r.x)
	case length:
		switch {
		case r.hi == 0:
			return fmt.Sprintf("at least %d long", r.lo)
		case r.hi == r.lo:
			return fmt.Sprintf("%d long", r.lo)
		}
		return fmt.Sprintf("%d to %d long", r.lo, r.hi)
	}
	return "required"
}

// admits says whether x keeps the rule; rules of other sorts pass. A NaN keeps none.
func (r Rule) admits(x float64) bool {
	switch r.kind {
	case atLeast:
		return x >= r.x
	case atMost:
		return x <= r.x
	case over:
		return x > r.x
	case under:
		return x < r.x
	}
	return true
}

func (r Rule) admitsLength(n int) bool {
	return r.kind != length || n >= r.lo && (r.hi == 0 || n <= r.hi)
}

func has(rules []Rule, k ruleKind) bool {
	for _, r := range rules {
		if r.kind == k {
			return true
		}
	}
	return false
}
