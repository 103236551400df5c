package report

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnitsReadWell(t *testing.T) {
	for _, x := range []struct{ got, want string }{
		{seconds(0), "0 s"}, {seconds(12e-9), "12 ns"}, {seconds(999.6e-9), "1 us"}, {seconds(1.5e-6), "1.5 us"},
		{seconds(0.0571), "57.1 ms"}, {seconds(0.9996), "1 s"}, {seconds(59.94), "59.9 s"}, {seconds(125), "2m05s"},
		{seconds(7500), "2h05m"}, {seconds(1e9), "277,777h47m"},
		{rate(0.0312), "0.0312"}, {rate(4.25), "4.25"}, {rate(1234.6), "1,235"}, {rate(1e12), "1T"},
		{percent(0), "0 %"}, {percent(0.001), "<1 %"}, {percent(0.42), "42 %"}, {percent(0.999), ">99 %"}, {percent(1), "100 %"},
		{size(0), "0 B"}, {size(1023), "1,023 B"}, {size(64 << 20), "64 MiB"}, {size(3 << 29), "1.5 GiB"},
		{size(math.MaxInt64), "8 EiB"},
		{short(999_999), "999,999"}, {short(1_230_000), "1.23M"}, {short(math.MaxInt64), "9,223,372T"}, {count(-1), "0"},
		{plural(1, "batch"), "1 batch"}, {plural(2000, "batch"), "2,000 batches"}, {plural(0, "epoch"), "0 epochs"},
		{clip("random_resized_crop", 11), "rando..crop"}, {clip("crop", 11), "crop"},
		{plain("a\x1b[31m\nb\xff"), `a\x1b[31m\nb\xff`}, {plain(`say "ä"`), `say "ä"`},
	} {
		assert.Equal(t, x.want, x.got)
	}
}

func TestLinesBreakBetweenWords(t *testing.T) {
	assert.Equal(t, "- one two\n  three\n  averyveryverylongword\n", wrap("one two three averyveryverylongword", "- ", "  ", 9))
	assert.Equal(t, "after\n400 ms\n(3 %)\n", wrap("after 400 ms (3 %)", "", "", 9))
	assert.Equal(t, "\n", wrap("", "", "", 9))
}

func TestRatiosThatAreNoNumbersDoNotExist(t *testing.T) {
	for _, x := range [][2]float64{{0, 0}, {1, 0}, {-1, 2}, {1, -1}, {math.NaN(), 1}, {math.Inf(1), 1}, {1e18, 1e-9}} {
		assert.Nil(t, ratio(x[0], x[1]), x)
	}
	assert.Equal(t, 0.5, *ratio(1, 2))
}
