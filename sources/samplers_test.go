package sources

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/shard"
)

// epochOf lists the indices of one epoch.
func epochOf(t *testing.T, s graph.Sampling, n int64, seed uint64, epoch int64) []int64 {
	t.Helper()
	p, err := s.Places(n, seed)
	require.NoError(t, err)
	all := make([]int64, p.Len(epoch))
	for i := range all {
		all[i] = p.Index(epoch, int64(i))
	}
	if len(all) > 0 {
		require.True(t, slices.Min(all) >= 0 && slices.Max(all) < n)
	}
	return all
}

func numbersFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "numbers.txt")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

func modulo(k int64) Labels { return func(i int64) int64 { return i % k } }

var everySampler = map[string]graph.Sampling{
	"subset":         Subset{Take: 600, Shuffled: true},
	"replacement":    Replacement{Count: 700},
	"weighted":       Weighted{Weight: func(i int64) float64 { return float64(i % 7) }},
	"class_balanced": ClassBalanced{Batch: 32, Label: modulo(5)},
	"curriculum":     Curriculum{Score: func(_, i int64) float64 { return float64(i / 50) }},
}

func TestSamplersGiveTheSameInEveryRunAndAnotherOrderEachEpoch(t *testing.T) {
	for name, s := range everySampler {
		first := epochOf(t, s, 1000, 7, 0)
		assert.Equal(t, first, epochOf(t, s, 1000, 7, 0), name)
		assert.NotEqual(t, first, epochOf(t, s, 1000, 7, 1), "%s: another epoch", name)
		assert.NotEqual(t, first, epochOf(t, s, 1000, 8, 0), "%s: another seed", name)
	}
}

// The digests were made on amd64. Integer arithmetic gives them everywhere.
func TestSamplersGiveTheSameOnEveryMachine(t *testing.T) {
	for name, want := range map[string]uint64{
		"subset": 0xf987438146f0406f, "replacement": 0x7b4cfb85d1810315, "weighted": 0xfa1f03d1f0f656a2,
		"class_balanced": 0xa44c31c20c22496b, "curriculum": 0xf71fe379b7687615,
	} {
		h := uint64(0)
		for epoch := range int64(3) {
			for _, i := range epochOf(t, everySampler[name], 1000, 7, epoch) {
				h = shard.Hash(h, uint64(i))
			}
		}
		assert.Equal(t, fmt.Sprintf("%#x", want), fmt.Sprintf("%#x", h), name)
	}
}

func TestSubsetReadsWhatIsListed(t *testing.T) {
	file := numbersFile(t, "9\n0\n4\n\n")
	for _, c := range []struct {
		s    Subset
		want []int64
	}{
		{Subset{Indices: []int{3, 1, 3}}, []int64{3, 1, 3}},
		{Subset{File: file}, []int64{9, 0, 4}},
		{Subset{Skip: 7}, []int64{7, 8, 9}},
		{Subset{Take: 2}, []int64{0, 1}},
		{Subset{Skip: 2, Take: 3}, []int64{2, 3, 4}},
	} {
		assert.Equal(t, c.want, epochOf(t, c.s, 10, 1, 0), "%+v", c.s)
		c.s.Shuffled = true
		assert.ElementsMatch(t, c.want, epochOf(t, c.s, 10, 1, 3), "%+v", c.s)
	}
	for text, s := range map[string]Subset{
		"it is not said which": {}, "give one of": {Take: 1, Indices: []int{1}}, "skip must be at least 0": {Skip: -1},
		"entry 1 of the list is 10, but the source has the indices 0 to 9": {Indices: []int{1, 10}},
		"8 samples after the first 5, but the source has only 10":          {Skip: 5, Take: 8},
		"no samples are left": {Skip: 10}, ":2: wanted a number, got \"x\"": {File: numbersFile(t, "1\nx\n")},
		":1: an index is a whole number": {File: numbersFile(t, "1.5")}, ":3: an empty line": {File: numbersFile(t, "1\n\n2")},
		"no such file": {File: "not there"}, "token too long": {File: numbersFile(t, strings.Repeat("1", 5000))},
	} {
		_, err := s.Places(10, 1)
		assert.ErrorContains(t, err, text)
	}
}

// chiSquare compares counts with what they should be; it is about as large as there are counts.
func chiSquare(counts []int, want []float64) (x float64, freedom int) {
	freedom = -1
	for i, w := range want {
		if w > 0 {
			x += (float64(counts[i]) - w) * (float64(counts[i]) - w) / w
			freedom++
		}
	}
	return x, freedom
}

// fits allows six standard deviations of the chi-square distribution to both sides: too even is wrong too.
func fits(t *testing.T, counts []int, want []float64) {
	t.Helper()
	x, k := chiSquare(counts, want)
	assert.InDelta(t, float64(k), x, 6*math.Sqrt(2*float64(k)), "chi-square of %d degrees", k)
}

func TestReplacementDrawsEachAloneWithTheSameChance(t *testing.T) {
	const n, count = 64, 200_000
	all := epochOf(t, Replacement{Count: count}, n, 3, 2)
	counts, pairs := make([]int, n), make([]int, n*n)
	for i, x := range all {
		counts[x]++
		if i > 0 {
			pairs[all[i-1]*n+x]++
		}
	}
	even := func(n int) []float64 { return slices.Repeat([]float64{count / float64(n)}, n) }
	fits(t, counts, even(n))
	fits(t, pairs, even(n*n))
	assert.Len(t, epochOf(t, Replacement{}, n, 3, 2), n)
	_, err := Replacement{Count: -1}.Places(n, 1)
	assert.ErrorContains(t, err, "count must be at least 0")
}

func TestWeightedDrawsInProportion(t *testing.T) {
	const n, count = 200, 400_000
	for name, weight := range map[string]Numbers{
		"rising":    func(i int64) float64 { return float64(i) },
		"holes":     func(i int64) float64 { return float64(i % 3) },
		"tiny":      func(i int64) float64 { return 1e-300 * float64(1+i%2) },
		"huge":      func(i int64) float64 { return math.MaxFloat64 / float64(1+i%2) },
		"one large": func(i int64) float64 { return max(1, 1000*float64(1-min(i, 1))) },
	} {
		total := 0.0
		for i := range int64(n) {
			total += weight(i) / weight(n-1)
		}
		want := make([]float64, n)
		for i := range want {
			want[i] = weight(int64(i)) / weight(n-1) / total * count
		}
		counts := make([]int, n)
		for _, i := range epochOf(t, Weighted{Weight: weight, Count: count}, n, 11, 1) {
			counts[i]++
		}
		for i, k := range counts {
			require.True(t, k == 0 || weight(int64(i)) > 0, name)
		}
		fits(t, counts, want)
	}
}

func TestWeightsOfVeryDifferentSizeAreAllDrawnFrom(t *testing.T) {
	w, err := newWheel(3, func(i int64) float64 { return []float64{1e300, 0, 5e-324}[i] })
	require.NoError(t, err)
	assert.Equal(t, w.sums[0], w.sums[1])
	assert.Equal(t, w.sums[1]+1, w.sums[2], "the smallest weight has a chance")
}

func TestWeightsThatCannotBeAreRefusedWithTheIndex(t *testing.T) {
	for text, bad := range map[string]float64{"is NaN": math.NaN(), "is -1": -1, "is +Inf": math.Inf(1)} {
		_, err := Weighted{Weight: func(i int64) float64 {
			if i == 5 {
				return bad
			}
			return 1
		}}.Places(9, 1)
		assert.ErrorContains(t, err, "sample 5 "+text)
		_, err = Weighted{Weights: numbersFile(t, fmt.Sprintf("1\n%v\n", bad))}.Places(2, 1)
		assert.ErrorContains(t, err, "sample 1 "+text)
	}
	_, err := Weighted{Weight: func(int64) float64 { return 0 }}.Places(9, 1)
	assert.ErrorContains(t, err, "0 to 8, are 0")
	_, err = Weighted{Weights: numbersFile(t, "1\n2\n")}.Places(3, 1)
	assert.ErrorContains(t, err, "2 numbers for the 3 samples")
	_, err = Weighted{Weights: numbersFile(t, "1\n2\n")}.Places(1, 1)
	assert.ErrorContains(t, err, ":2: one number too many: the source has 1 samples")
	_, err = Weighted{}.Places(1, 1)
	assert.ErrorContains(t, err, "weights is missing")
	_, err = Weighted{Weights: "x", Weight: func(int64) float64 { return 1 }}.Places(1, 1)
	assert.ErrorContains(t, err, "one of")
}

// The field case of more weights than the 2^24 that a 32-bit float can count.
func TestWeightedTakesMoreThanSixteenMillionWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 150 MB")
	}
	const n, zero = 1<<24 + 10, 1<<24 + 3
	p, err := Weighted{Weight: func(i int64) float64 {
		if i == zero {
			return 0
		}
		return 1
	}, Count: 100_000}.Places(n, 5)
	require.NoError(t, err)
	w := p.(*wheel)
	assert.Less(t, 8*(cap(w.sums)+cap(w.hints)), 150_000_000, "bytes")
	assert.Equal(t, w.sums[zero-1], w.sums[zero])
	late := 0
	for i := range p.Len(0) {
		x := p.Index(0, i)
		require.True(t, x != zero && x < n)
		if x >= n/2 {
			late++
		}
	}
	assert.InDelta(t, 50_000, late, 1000)
}

func TestClassBalancedFillsEveryBatchAlike(t *testing.T) {
	label := func(i int64) int64 { // 700 of class 0, 250 of 4, 50 of 9
		switch {
		case i%20 == 0:
			return 9
		case i%20 < 6:
			return 4
		}
		return 0
	}
	const n, batch, count = 1000, 32, 1010
	seen := map[int64]int{}
	all := epochOf(t, ClassBalanced{Batch: batch, Count: count, Label: label}, n, 9, 4)
	whole, first := map[int64]int{}, map[int64]int{}
	for b := range slices.Chunk(all, batch) {
		in := map[int64]int{}
		for _, i := range b {
			in[label(i)]++
			whole[label(i)]++
			seen[i]++
		}
		first[label(b[0])]++
		for _, class := range []int64{0, 4, 9} {
			assert.Contains(t, []int{len(b) / 3, len(b)/3 + 1}, in[class])
		}
	}
	for _, class := range []int64{0, 4, 9} {
		assert.Contains(t, []int{count / 3, count/3 + 1}, whole[class])
		assert.Greater(t, first[class], 2, "a batch does not begin with the same class each time")
	}
	for i, k := range seen { // of 50 and 250 samples 336 or 337 are drawn, of 700 as well
		want := map[int64][]int{9: {6, 7}, 4: {1, 2}, 0: {1}}[label(i)]
		assert.Contains(t, want, k, "class %d", label(i))
	}
}

func TestClassBalancedSaysWhatItLacks(t *testing.T) {
	_, err := ClassBalanced{Batch: 4}.Places(8, 1)
	assert.ErrorContains(t, err, "does not tell the classes")
	_, err = ClassBalanced{Label: modulo(2)}.Places(8, 1)
	assert.ErrorContains(t, err, "batch is missing")
	_, err = ClassBalanced{Batch: 4, Label: func(i int64) int64 { return 2 - i }}.Places(8, 1)
	assert.ErrorContains(t, err, "sample 3 has no class")
}

func TestCurriculumReadsTheEasyOnesFirstAndMoreEachEpoch(t *testing.T) {
	file := numbersFile(t, strings.Repeat("3\n1\n2\n1\n", 25))
	score := func(i int64) int { return []int{3, 1, 2, 1}[i%4] }
	c := Curriculum{Scores: file, Start: 0.25, Grow: 0.25}
	for epoch, want := range []int{25, 50, 75, 100, 100} {
		all := epochOf(t, c, 100, 2, int64(epoch))
		assert.Len(t, all, want)
		assert.True(t, slices.IsSortedFunc(all, func(a, b int64) int { return score(a) - score(b) }))
		slices.Sort(all)
		assert.Len(t, slices.Compact(all), want, "each once")
	}
	c.Block = 60
	mixed := epochOf(t, c, 100, 2, 3)
	assert.False(t, slices.IsSortedFunc(mixed, func(a, b int64) int { return score(a) - score(b) }))
	for _, i := range mixed[60:] {
		assert.Greater(t, score(i), 1, "the second block holds no easy ones")
	}
	later := Curriculum{Score: func(epoch, i int64) float64 { return float64((i + epoch*10) % 100) }}
	assert.Equal(t, int64(0), epochOf(t, later, 100, 2, 0)[0])
	assert.Equal(t, int64(90), epochOf(t, later, 100, 2, 1)[0])
	_, err := Curriculum{Scores: numbersFile(t, "1\nNaN\n")}.Places(2, 1)
	assert.ErrorContains(t, err, "score of sample 1 is not a number")
	_, err = Curriculum{Start: 2}.Places(2, 1)
	assert.ErrorContains(t, err, "start must be at most 1")
	assert.ErrorContains(t, err, "scores is missing")
}

func TestFingerprintsTellOrdersOfOneDeclarationApart(t *testing.T) {
	of := func(s graph.Sampling, err error) string {
		require.NoError(t, err)
		p, err := s.Places(4, 1)
		require.NoError(t, err)
		return p.(graph.Fingerprinter).Fingerprint()
	}
	one, other := numbersFile(t, "1\n2\n3\n1\n"), numbersFile(t, "1\n2\n3\n2\n")
	for _, with := range []func(file string) graph.Sampling{
		func(f string) graph.Sampling { return Weighted{Weights: f} },
		func(f string) graph.Sampling { return Curriculum{Scores: f} },
		func(f string) graph.Sampling { return Subset{File: f} },
	} {
		assert.Equal(t, of(with(one), nil), of(with(one), nil))
		assert.NotEqual(t, of(with(one), nil), of(with(other), nil))
	}
	assert.NotEqual(t, of(ClassBalanced{Batch: 2}.Labeled(modulo(2))), of(ClassBalanced{Batch: 2}.Labeled(modulo(3))))
}

// BenchmarkSamplers measures a place of each.
func BenchmarkSamplers(b *testing.B) {
	const n = 1 << 20
	for name, s := range map[string]graph.Sampling{
		"subset": Subset{Take: n / 2, Shuffled: true}, "replacement": Replacement{},
		"weighted":             Weighted{Weight: func(i int64) float64 { return float64(i % 100) }},
		"class_balanced":       ClassBalanced{Batch: 256, Label: modulo(1000)},
		"curriculum":           Curriculum{Score: func(_, i int64) float64 { return float64(i % 1000) }},
		"curriculum in blocks": Curriculum{Score: func(_, i int64) float64 { return float64(i) }, Block: 64},
	} {
		p, err := s.Places(n, 1)
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			sum := int64(0)
			for i := range b.N {
				sum += p.Index(0, int64(i)%p.Len(0))
			}
			_ = sum
		})
	}
}
