package registry

import "time"

// The functions below read single values as the fields of the same type do, for keys that belong to no kind. field
// begins the message of a problem.

// ReadInt reads a whole number.
func ReadInt(v Value, field string, rules ...Rule) (int, *Problem) {
	n, e := readInt(v)
	if e == nil {
		e = inRange(rules, float64(n), plainUnit)
	}
	return n, e.report(v, field)
}

// ReadUint64 reads a whole number from 0, exact to 64 bits.
func ReadUint64(v Value, field string) (uint64, *Problem) {
	n, e := readUint64(v)
	return n, e.report(v, field)
}

// ReadSize reads a number of bytes such as "64MiB".
func ReadSize(v Value, field string, rules ...Rule) (int64, *Problem) {
	n, e := readSize(v)
	if e == nil {
		e = inRange(rules, float64(n), sizeUnit)
	}
	return n, e.report(v, field)
}

// ReadFloat reads a number.
func ReadFloat(v Value, field string, rules ...Rule) (float64, *Problem) {
	x, e := readFloat(v)
	if e == nil {
		e = inRange(rules, x, plainUnit)
	}
	return x, e.report(v, field)
}

// ReadDuration reads a time such as "5ms".
func ReadDuration(v Value, field string, rules ...Rule) (time.Duration, *Problem) {
	d, e := readDuration(v)
	if e == nil {
		e = inRange(rules, float64(d), timeUnit)
	}
	return d, e.report(v, field)
}

// ReadText reads a string.
func ReadText(v Value, field string, rules ...Rule) (string, *Problem) {
	s, e := readText(v, "")
	if e == nil {
		e = inLength(rules, len(s), "bytes")
	}
	return s, e.report(v, field)
}

// ReadPath reads the name of a file or folder; a relative one is relative to dir.
func ReadPath(v Value, field, dir string) (string, *Problem) {
	s, e := readPath(v, dir)
	return s, e.report(v, field)
}

// ReadChoice reads one of a few words.
func ReadChoice(v Value, field string, choices ...string) (string, *Problem) {
	s, e := readWord(v)
	if e == nil {
		e = oneOf(s, choices)
	}
	return s, e.report(v, field)
}

func (e *fault) report(v Value, field string) *Problem {
	if e == nil {
		return nil
	}
	p := e.at(v.At).problem(field)
	return &p
}

// Describe says what a value is, for messages: "a list", "the text \"4\"", "4.0".
func (v Value) Describe() string { return v.describe() }
