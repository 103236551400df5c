package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// None stands for a figure that does not exist.
const None = "-"

// limit is above every true figure; anything beyond it is a mistake.
const limit = 1e18

// Ratio is a/b, or nil where that is no number.
func Ratio(a, b float64) *float64 {
	r := a / b
	if b <= 0 || r < 0 || math.IsNaN(r) || r > limit {
		return nil
	}
	return &r
}

// Digits is x with about n significant digits, never in scientific form, thousands apart.
func Digits(x float64, n int) string {
	if x == 0 {
		return "0"
	}
	after := n - 1 - int(math.Floor(math.Log10(x)))
	text := strconv.FormatFloat(x, 'f', max(0, min(after, 9)), 64)
	whole, part, found := strings.Cut(text, ".")
	whole = thousands(whole)
	if part = strings.TrimRight(part, "0"); found && part != "" {
		return whole + "." + part
	}
	return whole
}

// thousands puts commas into a whole number.
func thousands(s string) string {
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Whole is a figure as a whole number, the largest one where it is beyond that.
func Whole(x float64) int64 {
	if x >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(x)
}

// Count is a number of things, in full.
func Count(n int64) string { return thousands(strconv.FormatInt(max(n, 0), 10)) }

// Short is a number of things in at most seven characters: 123,456 then 1.23M.
func Short(n int64) string {
	switch x := float64(max(n, 0)); {
	case n < 1_000_000:
		return Count(n)
	case n < 1_000_000_000:
		return Digits(x/1e6, 3) + "M"
	case n < 1_000_000_000_000:
		return Digits(x/1e9, 3) + "G"
	default:
		return Digits(x/1e12, 3) + "T"
	}
}

// Plural is "1 batch", "2 batches".
func Plural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many(one)
}

// many is the plural of a word.
func many(one string) string {
	switch one {
	case "batch", "miss":
		return one + "es"
	case "copy":
		return "copies"
	}
	return one + "s"
}

// Duration is a time with three digits and one unit; from two minutes on "2m05s", from two hours on "2h05m".
func Duration(d time.Duration) string { return Seconds(d.Seconds()) }

// Seconds is [Duration] of a number of seconds.
func Seconds(x float64) string {
	switch {
	case x == 0:
		return "0 s"
	case x < 0.9995e-6:
		return Digits(x*1e9, 3) + " ns"
	case x < 0.9995e-3:
		return Digits(x*1e6, 3) + " us"
	case x < 0.9995:
		return Digits(x*1e3, 3) + " ms"
	case x < 119.5:
		return Digits(x, 3) + " s"
	case x < 7170:
		s := int64(math.Round(x))
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	default:
		m := int64(math.Round(min(x, 1e15) / 60))
		return fmt.Sprintf("%sh%02dm", Count(m/60), m%60)
	}
}

// Rate is a number a second with three digits.
func Rate(x float64) string {
	if x >= 1e9 {
		return Short(Whole(x))
	}
	return Digits(x, 3)
}

// Percent is a share as "42 %". It says 0 and 100 only where that is exact.
func Percent(x float64) string {
	p := x * 100
	switch {
	case p > 0 && p < 0.5:
		return "<1 %"
	case p < 100 && p >= 99.5:
		return ">99 %"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}

// Size is a number of bytes as "412 MiB".
func Size(n int64) string {
	x, units := float64(max(n, 0)), []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	i := 0
	for ; x >= 1023.5 && i < len(units)-1; i++ {
		x /= 1024
	}
	return Digits(x, 3) + " " + units[i]
}

// Plain makes a text safe to print on one line: control characters and broken text, which names of files may hold, are
// escaped.
func Plain(s string) string {
	safe := func(r rune) bool { return r == ' ' || unicode.IsGraphic(r) && r != utf8.RuneError }
	if strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// Clip shortens a text to n characters; what is cut lies in the middle, as ends tell names apart.
func Clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n || n < 5 {
		return s
	}
	tail := (n - 2) / 2
	return string(r[:n-2-tail]) + ".." + string(r[len(r)-tail:])
}

// Wrap breaks a text into lines of at most width characters; a longer word keeps its line. A number and its unit stay
// together.
func Wrap(text, first, rest string, width int) string {
	var b strings.Builder
	line, length := first, utf8.RuneCountInString(first)
	empty := true
	for _, word := range split(text) {
		n := utf8.RuneCountInString(word)
		if !empty && length+1+n > width {
			b.WriteString(line + "\n")
			line, length, empty = rest, utf8.RuneCountInString(rest), true
		}
		if !empty {
			line, length = line+" ", length+1
		}
		line, length, empty = line+word, length+n, false
	}
	b.WriteString(line + "\n")
	return b.String()
}

// split are the words of a text, a unit together with its number.
func split(text string) []string {
	var all []string
	for _, word := range strings.Fields(text) {
		last := len(all) - 1
		switch strings.TrimRight(word, ".,;:)") {
		case "ns", "us", "ms", "s", "%", "x", "B", "KiB", "MiB", "GiB", "TiB", "samples/s", "items/s":
			if last >= 0 && all[last][len(all[last])-1] >= '0' && all[last][len(all[last])-1] <= '9' {
				all[last] += " " + word
				continue
			}
		}
		all = append(all, word)
	}
	return all
}
