package page

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// trim is a number in as few characters as it needs, with three digits behind the point at most.
func trim(x float64) string {
	return strconv.FormatFloat(math.Round(x*1000)/1000, 'f', -1, 64)
}

// steps draws the area between two lines that are level within each bucket: from 0 at the foot to 100. Both are as long,
// and width buckets wide, the last of which may be cut short.
func steps(lower, upper []float64, width float64) string {
	var b strings.Builder
	x := func(i int) float64 { return math.Min(float64(i), width) }
	y := func(v float64) float64 { return math.Round(100 - 100*math.Max(0, math.Min(1, v))) }
	for i := 0; i < len(upper); {
		if upper[i] <= lower[i] {
			i++
			continue
		}
		end := i
		for end < len(upper) && upper[end] > lower[end] {
			end++
		}
		fmt.Fprintf(&b, "M%s %s", trim(x(i)), trim(y(upper[i])))
		for k := i; k < end; k++ {
			if k+1 < end && y(upper[k+1]) == y(upper[k]) {
				continue
			}
			fmt.Fprintf(&b, "H%s", trim(x(k+1)))
			if k+1 < end {
				fmt.Fprintf(&b, "V%s", trim(y(upper[k+1])))
			}
		}
		fmt.Fprintf(&b, "V%s", trim(y(lower[end-1])))
		for k := end - 1; k >= i; k-- {
			if k > i && y(lower[k-1]) == y(lower[k]) {
				continue
			}
			fmt.Fprintf(&b, "H%s", trim(x(k)))
			if k > i {
				fmt.Fprintf(&b, "V%s", trim(y(lower[k-1])))
			}
		}
		b.WriteByte('Z')
		i = end
	}
	return b.String()
}

// area is a path of a class; "" where there is nothing to see.
func area(class string, lower, upper []float64, width float64) string {
	d := steps(lower, upper, width)
	if d == "" {
		return ""
	}
	return fmt.Sprintf(`<path class="%s" d="%s"/>`, class, d)
}

// picture is an SVG that fills its place, whatever its proportions. All that stands in it is made of numbers and of the
// classes here; words is what it says to those who cannot see it.
func picture(class string, width, height float64, words, inside string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="%s" viewBox="0 0 %s %s" preserveAspectRatio="none" role="img" aria-label="%s">%s</svg>`,
		class, trim(width), trim(height), template.HTMLEscapeString(words), inside))
}
