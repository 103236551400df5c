package registry

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The units of sizes, largest first; powers of 1024 with an i, of 1000 without.
var sizeUnits = []struct {
	name string
	n    int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1},
}

// ParseSize reads "64MiB", "1.5GB" or "512B". A number without a unit is refused, since nobody can tell what it counts;
// so are M and G alone, which some tools read as powers of 1000 and some as of 1024.
func ParseSize(s string) (int64, error) {
	for _, u := range sizeUnits {
		num, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		if !isFloat(num) {
			break
		}
		x, err := strconv.ParseFloat(num, 64)
		if n := x * float64(u.n); err == nil && n < math.MaxInt64 {
			return int64(n), nil
		}
		return 0, fmt.Errorf("the size %s does not fit in 63 bits", clip(s))
	}
	return 0, fmt.Errorf("wanted a size with a unit such as 64MiB (B, KiB, MiB, GiB, TiB, KB, MB, GB, TB), got %s", quote(s))
}

// FormatSize is the shortest exact form that [ParseSize] reads.
func FormatSize(n int64) string {
	for _, u := range sizeUnits {
		if n != 0 && n%u.n == 0 {
			return strconv.FormatInt(n/u.n, 10) + u.name
		}
	}
	return "0B"
}

// ParseDuration reads "5ms", "1.5s", "1h30m". A number without a unit is refused, but for 0.
func ParseDuration(s string) (time.Duration, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return d, nil
	}
	if isNumber(s) {
		return 0, fmt.Errorf("wanted a time with a unit such as %sms or %ss, got %s", s, s, s)
	}
	return 0, fmt.Errorf("wanted a time such as 5ms (ns, us, ms, s, m, h), got %s", quote(s))
}
