package compare_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/report/compare"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden are the comparisons whose texts are kept.
func golden(t *testing.T) map[string]*compare.Comparison {
	r := rand.New(rand.NewPCG(1, 2))
	slow, more, odd := base(), base(), base()
	slow.decode, slow.version = 25*time.Millisecond, "1.1.0"
	more.workers, more.overrides = 2, []string{"decode.workers=2"}
	odd.read, odd.digest = 6*time.Millisecond, "bb22"
	return map[string]*compare.Comparison{
		"one_each":    of(t, runs(t, "a", 1, base(), quiet), runs(t, "b", 1, more, quiet)),
		"slower":      of(t, runs(t, "a", 5, base(), shaking(r, 0.01)), runs(t, "b", 5, slow, shaking(r, 0.01))),
		"unexplained": of(t, runs(t, "a", 6, base(), shaking(r, 0.01)), runs(t, "b", 6, odd, shaking(r, 0.01))),
		"equal":       of(t, runs(t, "a", 5, base(), shaking(r, 0.01)), runs(t, "b", 5, base(), shaking(r, 0.01))),
	}
}

func TestComparisonsEqualTheirGoldenFiles(t *testing.T) {
	for name, c := range golden(t) {
		text, err := c.JSON()
		require.NoError(t, err)
		for file, got := range map[string]string{name + ".txt": c.Text(), name + ".md": c.Markdown(), name + ".json": string(text)} {
			path := filepath.Join("testdata", file)
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err, "write it with: go test ./graph/report/compare -update")
			assert.Equal(t, string(want), got, "if the change is meant: go test ./graph/report/compare -update")
		}
		assert.True(t, json.Valid(text))
		for _, line := range strings.Split(c.Text(), "\n") {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 100, line)
			assert.Less(t, strings.IndexFunc(line, func(r rune) bool { return r > 126 || r < 32 }), 0, line)
		}
	}
}

func TestAnAlarmNeedsFiveRunsASide(t *testing.T) {
	slow := base()
	slow.decode = 30 * time.Millisecond
	for n := 1; n <= 6; n++ {
		r := rand.New(rand.NewPCG(3, uint64(n)))
		c := of(t, runs(t, "a", n, base(), shaking(r, 0.005)), runs(t, "b", n, slow, shaking(r, 0.005)))
		f := figure(t, c, "stages.decode.service.p50")
		require.InDelta(t, 0.5, *f.Change, 0.05)
		if n < compare.Runs {
			assert.Equal(t, compare.Differs, f.Standing, n)
			assert.Zero(t, c.Alarms, n)
			continue
		}
		assert.Equal(t, compare.Worse, f.Standing, n)
		assert.Equal(t, compare.Worse, figure(t, c, "totals.samples_per_second").Standing, n)
	}
}

func TestWhatIsBetterIsToldFromWhatIsWorse(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	quick := base()
	quick.decode = 14 * time.Millisecond
	c := of(t, runs(t, "a", 5, base(), shaking(r, 0.005)), runs(t, "b", 5, quick, shaking(r, 0.005)))
	assert.Equal(t, compare.Better, figure(t, c, "stages.decode.service.p50").Standing)
	assert.Equal(t, compare.Better, figure(t, c, "totals.samples_per_second").Standing)
	assert.Equal(t, compare.Better, figure(t, c, "sink.wait_ratio").Standing)
}

func TestAStageThatHardlyWorksIsNoAlarm(t *testing.T) {
	a, b := base(), base()
	a.read, b.read = 2*time.Microsecond, 4*time.Microsecond
	r := rand.New(rand.NewPCG(5, 6))
	c := of(t, runs(t, "a", 5, a, shaking(r, 0.005)), runs(t, "b", 5, b, shaking(r, 0.005)))
	assert.Equal(t, compare.Differs, figure(t, c, "stages.read.service.p50").Standing)
	assert.Zero(t, c.Alarms)
}

func TestIntervalsHoldTheMedianAsOftenAsTheySay(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{5, 6, 8, 9, 12, 20, 41} {
		in, sure := 0, 0.0
		const draws = 4000
		for range draws {
			values := make([]float64, n)
			for i := range values {
				values[i] = r.ExpFloat64() // skewed: its median is ln 2
			}
			s := compare.NewSet(values)
			sure = s.Sure
			if s.Low <= 0.6931 && s.High >= 0.6931 {
				in++
			}
		}
		assert.GreaterOrEqual(t, sure, 0.9375, n)
		assert.InDelta(t, sure, float64(in)/draws, 0.015, n)
	}
	assert.Zero(t, compare.NewSet([]float64{1}).Sure)
	assert.Nil(t, compare.NewSet(nil))
	assert.Equal(t, 2.5, compare.NewSet([]float64{4, 1, 2, 3}).Median)
	nine := compare.NewSet([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
	assert.Equal(t, []float64{2, 8}, []float64{nine.Low, nine.High}, "of nine runs one at each end may be left out")
}

// The rate of false alarms for a whole comparison of equal sets, at a noise of which 5 % are common.
func TestEqualSetsSeldomAlarm(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	alarms := 0
	const sets = 400
	for range sets {
		c := of(t, runs(t, "a", 5, base(), shaking(r, 0.05)), runs(t, "b", 5, base(), shaking(r, 0.05)))
		if c.Alarms > 0 {
			alarms++
		}
	}
	assert.LessOrEqual(t, alarms, sets/50, "of %d sets", sets)
}

func TestTheConclusionDoesNotDenyWhatTheTableShows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	a, b := base(), base()
	a.read, b.read = 2*time.Microsecond, 4*time.Microsecond // raises no alarm
	said := func(n int, a, b made, noise func() float64) string {
		text, _, _ := strings.Cut(of(t, runs(t, "a", n, a, noise), runs(t, "b", n, b, noise)).Text(), "\n")
		return text
	}
	assert.Equal(t, "No alarm, but figures that raise none differ: see the table.", said(5, a, b, shaking(r, 0.005)))
	assert.Equal(t, "There are differences; whether they are noise cannot be told from so few runs.", said(1, a, b, quiet))
	assert.Equal(t, "There are differences; whether they are noise cannot be told from so few runs.", said(2, a, a, shaking(r, 0.3)))
	assert.Equal(t, "No difference of more than 5 %.", said(1, a, a, quiet))
}

func TestCopiesOfARunCountOnce(t *testing.T) {
	one := read(t, "a/0.json", base().snapshot(quiet))
	again := read(t, "a/copy.json", base().snapshot(quiet))
	c := of(t, []*compare.Report{one, again}, []*compare.Report{one})
	assert.Equal(t, []string{"a/0.json"}, c.A.Files)
	assert.Contains(t, c.Notes, `A: "a/copy.json" is a copy of "a/0.json" and was left out`)
}

func TestADifferenceSaysWhereItWasAskedFor(t *testing.T) {
	stated := func(b made) map[string]string {
		c := of(t, runs(t, "a", 1, base(), quiet), runs(t, "b", 1, b, quiet))
		all := map[string]string{}
		for _, d := range c.Differences {
			all[d.Path] = d.Stated
		}
		return all
	}
	over, text, none, env := base(), base(), base(), base()
	over.workers, over.overrides = 2, []string{"decode.workers=2"}
	text.workers, text.text = 2, strings.Replace(text.text, "workers: 1", "workers: 2", 1)
	none.workers = 2
	env.version = "2.0.0"
	assert.Equal(t, map[string]string{"spec.overrides": "override", "stages.decode.workers": "override", "stages.decode.buffer": "workers",
		"stages.decode.window": "workers"}, stated(over))
	assert.Equal(t, map[string]string{"spec.text": "spec", "stages.decode.workers": "spec", "stages.decode.buffer": "spec",
		"stages.decode.window": "spec"}, stated(text))
	assert.Equal(t, "", stated(none)["stages.decode.workers"])
	assert.Equal(t, map[string]string{"environment.version": "environment"}, stated(env))
	assert.Empty(t, stated(base()))
}

// A fused stage has the window of its group, which goes by the workers of the first of them.
func TestTheWindowOfAFusedStageGoesByTheWorkersItRunsOn(t *testing.T) {
	fused := func(workers int) []*compare.Report {
		m := base()
		m.workers, m.overrides = workers, []string{fmt.Sprintf("decode.workers=%d", workers)}
		s := m.snapshot(quiet)
		crop := s.Stages[1]
		crop.ID, crop.Kind, crop.FusedInto, crop.Workers, crop.From = "crop", "center_crop", "decode", 0, []string{"decode"}
		s.Stages = slices.Insert(s.Stages, 2, crop)
		return []*compare.Report{read(t, fmt.Sprint(workers), s)}
	}
	stated := map[string]string{}
	for _, d := range of(t, fused(1), fused(2)).Differences {
		stated[d.Path] = d.Stated
	}
	assert.Equal(t, "workers", stated["stages.crop.window"])
}

func TestOnlyWhatTouchesAStageExplainsItsAlarm(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	b := base()
	b.decode = 30 * time.Millisecond
	b.text = strings.Replace(b.text, "root: data", "root: other", 1) // of read
	c := of(t, runs(t, "a", 5, base(), shaking(r, 0.005)), runs(t, "b", 5, b, shaking(r, 0.005)))
	assert.Empty(t, figure(t, c, "stages.decode.service.p50").Causes)
	assert.Equal(t, []string{"spec.text", `stage "decode"`}, figure(t, c, "totals.samples_per_second").Causes)
	assert.Equal(t, 1, c.Unexplained)
	assert.Contains(t, c.Text(), `- ! "decode" p50: no cause stated`)
	b.text = strings.Replace(base().text, "decode_image: {}", "decode_image: {channels: 1}", 1) // a line below its id
	c = of(t, runs(t, "a", 5, base(), shaking(r, 0.005)), runs(t, "b", 5, b, shaking(r, 0.005)))
	assert.Equal(t, []string{"spec.text"}, figure(t, c, "stages.decode.service.p50").Causes)
	assert.Zero(t, c.Unexplained)
}

func TestOtherSamplesUnderTheSameSpecAreMarked(t *testing.T) {
	b := base()
	b.digest = "bb22"
	c := of(t, runs(t, "a", 1, base(), quiet), runs(t, "b", 1, b, quiet))
	assert.False(t, *c.Digest.Same)
	assert.Contains(t, c.Text(), "! Digest: other samples, aa11 -> bb22, though the specs are the same")
	b.overrides = []string{"seed=9"}
	c = of(t, runs(t, "a", 1, base(), quiet), runs(t, "b", 1, b, quiet))
	assert.Contains(t, c.Text(), "Digest: other samples, aa11 -> bb22; the specs or the lengths differ.")
}

func TestASideOfDifferentRunsIsNoted(t *testing.T) {
	other := base()
	other.text += "# x\nepochs: 2\n"
	a := append(runs(t, "a", 1, base(), quiet), runs(t, "a2", 1, other, quiet)...)
	c := of(t, a, runs(t, "b", 1, base(), quiet))
	assert.Contains(t, c.Notes, "A mixes runs of 2 specs: its spread is not noise alone")
}

func TestWhatIsNoReportIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{`: "not a report", `[1]`: "not a report", `{"version": 1}`: "penstock run SPEC --report FILE.json",
		`{"version": 2, "stages": []}`: "a report of version 2; wanted 1",
	} {
		_, err := compare.Read("x.json", []byte(text))
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, `"x.json"`)
	}
	_, err := compare.Of(nil, nil)
	assert.ErrorContains(t, err, "at least one report")
}

// Any JSON of the right version is read without a panic, whatever is missing from it.
func TestReportsOfOldRunnersAreCompared(t *testing.T) {
	thin, err := compare.Read("thin.json", []byte(`{"version": 1, "stages": [{"id": "read"}, {}, 3], "spec": null}`))
	require.NoError(t, err)
	c := of(t, []*compare.Report{thin}, runs(t, "b", 1, base(), quiet))
	assert.NotEmpty(t, c.Text()+c.Markdown())
	of(t, []*compare.Report{thin}, []*compare.Report{thin})
}
