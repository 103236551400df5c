package words

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnitsReadWell(t *testing.T) {
	for _, x := range []struct{ got, want string }{
		{Seconds(0), "0 s"}, {Seconds(12e-9), "12 ns"}, {Seconds(999.6e-9), "1 us"}, {Seconds(1.5e-6), "1.5 us"},
		{Seconds(0.0571), "57.1 ms"}, {Seconds(0.9996), "1 s"}, {Seconds(59.94), "59.9 s"}, {Seconds(125), "2m05s"},
		{Seconds(7500), "2h05m"}, {Seconds(1e9), "277,777h47m"},
		{Rate(0.0312), "0.0312"}, {Rate(4.25), "4.25"}, {Rate(1234.6), "1,235"}, {Rate(1e12), "1T"},
		{Percent(0), "0 %"}, {Percent(0.001), "<1 %"}, {Percent(0.42), "42 %"}, {Percent(0.999), ">99 %"}, {Percent(1), "100 %"},
		{Size(0), "0 B"}, {Size(1023), "1,023 B"}, {Size(64 << 20), "64 MiB"}, {Size(3 << 29), "1.5 GiB"},
		{Size(math.MaxInt64), "8 EiB"},
		{Short(999_999), "999,999"}, {Short(1_230_000), "1.23M"}, {Short(math.MaxInt64), "9,223,372T"}, {Count(-1), "0"},
		{Plural(1, "batch"), "1 batch"}, {Plural(2000, "batch"), "2,000 batches"}, {Plural(0, "epoch"), "0 epochs"},
		{Plural(2, "copy"), "2 copies"}, {Plural(1, "miss"), "1 miss"}, {Plural(0, "miss"), "0 misses"},
		{Clip("random_resized_crop", 11), "rando..crop"}, {Clip("crop", 11), "crop"},
		{Plain("a\x1b[31m\nb\xff"), `a\x1b[31m\nb\xff`}, {Plain(`say "ä"`), `say "ä"`},
	} {
		assert.Equal(t, x.want, x.got)
	}
}

func TestLinesBreakBetweenWords(t *testing.T) {
	assert.Equal(t, "- one two\n  three\n  averyveryverylongword\n", Wrap("one two three averyveryverylongword", "- ", "  ", 9))
	assert.Equal(t, "after\n400 ms\n(3 %)\n", Wrap("after 400 ms (3 %)", "", "", 9))
	assert.Equal(t, "\n", Wrap("", "", "", 9))
}

func TestTheLargestFiguresStayWhatTheyAre(t *testing.T) {
	assert.EqualValues(t, math.MaxInt64, Whole(float64(math.MaxInt64)))
	assert.EqualValues(t, math.MaxInt64, Whole(1e300))
	assert.EqualValues(t, -3, Whole(-3))
}

func TestRatiosThatAreNoNumbersDoNotExist(t *testing.T) {
	for _, x := range [][2]float64{{0, 0}, {1, 0}, {-1, 2}, {1, -1}, {math.NaN(), 1}, {math.Inf(1), 1}, {1e18, 1e-9}} {
		assert.Nil(t, Ratio(x[0], x[1]), x)
	}
	assert.Equal(t, 0.5, *Ratio(1, 2))
}
