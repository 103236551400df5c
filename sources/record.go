package sources

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// recordKey reads a line of a quarantine file: the text key of a JSON object, or its key_bytes, which goes first. The
// reader is our own, for encoding/json would make a program that reads a folder half a megabyte larger; a fuzz test holds
// the two together.
func recordKey(line []byte) (string, error) {
	s := &jsonLine{text: line}
	var key, raw string
	err := s.object(func(name string) error {
		if name != "key" && name != "key_bytes" {
			return s.skip(1)
		}
		v, err := "", error(nil)
		if s.peek() == 'n' { // null takes back what an earlier member of the name said
			err = s.skip(1)
		} else {
			v, err = s.str()
		}
		if name == "key" || err != nil {
			key = v
			return err
		}
		b, err := base64.StdEncoding.DecodeString(v)
		raw = string(b)
		return err
	})
	if err == nil && s.peek() != 0 {
		err = s.fault("the end of the line")
	}
	if err != nil {
		return "", fmt.Errorf("not a line of a quarantine file: %w", err)
	}
	if raw != "" {
		key = raw
	}
	if key == "" {
		return "", errors.New("not a line of a quarantine file: it has no key")
	}
	return key, nil
}

// maxJSONDepth bounds how deep lists and objects may be nested.
const maxJSONDepth = 100

// jsonLine reads JSON (RFC 8259) from a line, from left to right.
type jsonLine struct {
	text []byte
	at   int
}

func (s *jsonLine) fault(wanted string) error {
	if s.at >= len(s.text) {
		return fmt.Errorf("it ends at column %d, wanted %s", s.at+1, wanted)
	}
	return fmt.Errorf("column %d: got %q, wanted %s", s.at+1, s.text[s.at], wanted)
}

// peek gives the next byte that is no white space; 0 at the end.
func (s *jsonLine) peek() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return max(c, 1) // a zero byte is not the end
		}
	}
	return 0
}

func (s *jsonLine) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

// object reads an object; member is called after each name and reads the value.
func (s *jsonLine) object(member func(name string) error) error {
	if !s.take('{') {
		return s.fault("{")
	}
	if s.take('}') {
		return nil
	}
	for {
		if s.peek() != '"' {
			return s.fault("a name")
		}
		name, err := s.str()
		if err != nil {
			return err
		}
		if !s.take(':') {
			return s.fault(":")
		}
		if err = member(name); err != nil {
			return err
		}
		if !s.take(',') {
			break
		}
	}
	if !s.take('}') {
		return s.fault("} or ,")
	}
	return nil
}

// skip reads a value and forgets it.
func (s *jsonLine) skip(depth int) error {
	if depth > maxJSONDepth {
		return fmt.Errorf("column %d: more than %d levels deep", s.at+1, maxJSONDepth)
	}
	switch c := s.peek(); {
	case c == '{':
		return s.object(func(string) error { return s.skip(depth + 1) })
	case c == '[':
		return s.list(depth)
	case c == '"':
		_, err := s.str()
		return err
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for _, word := range []string{"null", "true", "false"} {
		if end := s.at + len(word); end <= len(s.text) && string(s.text[s.at:end]) == word {
			s.at = end
			return nil
		}
	}
	return s.fault("a value")
}

func (s *jsonLine) list(depth int) error {
	s.at++
	if s.take(']') {
		return nil
	}
	for {
		if err := s.skip(depth + 1); err != nil {
			return err
		}
		if !s.take(',') {
			break
		}
	}
	if !s.take(']') {
		return s.fault("] or ,")
	}
	return nil
}

func (s *jsonLine) number() error {
	if s.text[s.at] == '-' {
		s.at++
	}
	switch {
	case s.at < len(s.text) && s.text[s.at] == '0':
		s.at++
	case s.digits() == 0:
		return s.fault("a digit")
	}
	if s.at < len(s.text) && s.text[s.at] == '.' {
		if s.at++; s.digits() == 0 {
			return s.fault("a digit")
		}
	}
	if s.at < len(s.text) && s.text[s.at]|0x20 == 'e' {
		s.at++
		if s.at < len(s.text) && (s.text[s.at] == '+' || s.text[s.at] == '-') {
			s.at++
		}
		if s.digits() == 0 {
			return s.fault("a digit")
		}
	}
	return nil
}

func (s *jsonLine) digits() (n int) {
	for ; s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9'; s.at++ {
		n++
	}
	return n
}

// str reads a string. Bytes that are no UTF-8, and halves of surrogate pairs, become the replacement character.
func (s *jsonLine) str() (string, error) {
	if !s.take('"') {
		return "", s.fault("a string")
	}
	var out []byte
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return string(out), nil
		case c < ' ':
			return "", s.fault("no control character")
		case c == '\\':
			var err error
			if out, err = s.escape(out); err != nil {
				return "", err
			}
		default:
			r, n := utf8.DecodeRune(s.text[s.at:])
			out = utf8.AppendRune(out, r)
			s.at += n
		}
	}
	return "", s.fault(`"`)
}

func (s *jsonLine) escape(out []byte) ([]byte, error) {
	s.at++
	if s.at == len(s.text) {
		return nil, s.fault("an escaped character")
	}
	c := s.text[s.at]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		r, ok := s.hex(s.at + 1)
		if !ok {
			return nil, s.fault("four hexadecimal digits after it")
		}
		s.at += 5
		if utf16.IsSurrogate(r) {
			low, ok := s.hex(s.at + 2)
			pair := utf16.DecodeRune(r, low)
			if r = utf8.RuneError; ok && string(s.text[s.at:s.at+2]) == `\u` && pair != utf8.RuneError {
				r = pair
				s.at += 6
			}
		}
		return utf8.AppendRune(out, r), nil
	default:
		return nil, s.fault(`one of "\/bfnrtu`)
	}
	s.at++
	return append(out, c), nil
}

func (s *jsonLine) hex(at int) (rune, bool) {
	if at+4 > len(s.text) {
		return 0, false
	}
	v, err := strconv.ParseUint(string(s.text[at:at+4]), 16, 16)
	return rune(v), err == nil
}
