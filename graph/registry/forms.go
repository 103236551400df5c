package registry

import "strings"

// What a bare word means, by the core schema of YAML 1.2 and, for numbers that other versions read otherwise, more. The
// forms are written out rather than as regular expressions, which every program that uses a kind would carry.

// name: lower_snake_case that begins with a letter.
func isName(s string) bool {
	word := false
	for i, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9' && i > 0:
			word = true
		case c == '_' && word:
			word = false
		default:
			return false
		}
	}
	return word
}

// whole: -?(0|[1-9][0-9]*)
func isWhole(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s == "0" || s != "" && s[0] != '0' && digits(s) == len(s)
}

// float: [-+]?(.[0-9]+|[0-9]+(.[0-9]*)?)([eE][-+]?[0-9]+)?
func isFloat(s string) bool {
	s = unsigned(s)
	n := digits(s)
	whole, s := n > 0, s[n:]
	if strings.HasPrefix(s, ".") {
		n = digits(s[1:])
		if !whole && n == 0 {
			return false
		}
		whole, s = true, s[1+n:]
	}
	return whole && exponent(s)
}

// number: a float with _ among its digits, a whole number by 0x, 0o or 0b, an infinity or no number, as some version of
// YAML reads one.
func isNumber(s string) bool {
	s = unsigned(s)
	switch s {
	case ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN":
		return true
	}
	if len(s) > 2 && s[0] == '0' && strings.IndexByte("xob", s[1]) >= 0 {
		return strings.Trim(s[2:], "0123456789abcdefABCDEF_") == ""
	}
	if strings.HasPrefix(s, ".") {
		return isFloat(s)
	}
	if s == "" || s[0] < '0' || s[0] > '9' {
		return false
	}
	s = strings.TrimLeft(s, "0123456789_")
	if strings.HasPrefix(s, ".") {
		s = strings.TrimLeft(s[1:], "0123456789_")
	}
	return exponent(s)
}

func unsigned(s string) string {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:]
	}
	return s
}

// digits is how many decimal digits s begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// exponent says that s is ([eE][-+]?[0-9]+)?
func exponent(s string) bool {
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = unsigned(s[1:])
	return s != "" && digits(s) == len(s)
}
