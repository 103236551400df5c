package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A side for the tests: it answers each line with the next number of seconds, and notes its name in a file.
func fake(t *testing.T, name, file string, seconds string) kind {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a shell")
	}
	script := `echo '{"version":"1"}'; set -- ` + seconds + `; while read -r l; do echo ` + name + ` >>` + file +
		`; echo "{\"seconds\":$1,\"items\":10,\"cpu\":$1}"; shift; sleep 0.01; done`
	return kind{name: name, argv: []string{sh, "-c", script}}
}

func contenderOf(t *testing.T, k kind) contender {
	t.Helper()
	s, err := start(k, nil)
	require.NoError(t, err)
	t.Cleanup(s.stop)
	return contender{s, command{}, k.name}
}

func TestSidesRunInTurnAndRatiosAreOfNeighbours(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	a := contenderOf(t, fake(t, "a", file, "9e-9 1e-9 2e-9 4e-9"))
	b := contenderOf(t, fake(t, "b", file, "9e-9 2e-9 6e-9 16e-9"))
	m, err := meet(a, b, 3, true)
	require.NoError(t, err)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "a b a b a b a b", strings.Join(strings.Fields(string(text)), " "))
	r := m.ratios(rate)
	require.Len(t, r, 3, "the first pass does not count")
	assert.InDeltaSlice(t, []float64{2, 3, 4}, r, 1e-9)
	assert.InDeltaSlice(t, []float64{0.5, 1. / 3, 0.25}, m.ratios(cpuOf), 1e-9)
	assert.Equal(t, spread{3, 2, 4}, spreadOf([]float64{4, 2, 3}))
}

func TestASideThatClaimsMoreThanTheClockIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	s := contenderOf(t, fake(t, "a", file, "9999 1e-9"))
	_, err := s.run(command{}, false)
	assert.ErrorContains(t, err, "a says that 10 items took 9999")
	_, err = s.run(command{}, false)
	assert.NoError(t, err)
}

func TestASideThatDiesTellsWhy(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a shell")
	}
	_, err = start(kind{name: "peer", argv: []string{sh, "-c", "echo no such module >&2; exit 1"}}, nil)
	assert.ErrorContains(t, err, "peer ended without an answer: no such module")
	_, err = start(kind{name: "peer", argv: []string{filepath.Join(t.TempDir(), "none")}}, nil)
	assert.ErrorContains(t, err, "peer")
}

func TestPeersThatCouldNotBeHadAreNamed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "state"), 0o755))
	for name, text := range map[string]string{"torch": "ok\n", "dali": "no such package\n", "ffcv-registry": "no compiler\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "state", name), []byte(text), 0o644))
	}
	found, missing := peers(dir)
	assert.Len(t, found, 1)
	assert.Equal(t, "torch", found["torch"].name)
	assert.Equal(t, "no such package", missing["dali"])
	assert.Equal(t, "no compiler", missing["ffcv-registry"])
	assert.Equal(t, "not installed", missing["grain"])
}

func TestIntervalOfTheMedian(t *testing.T) {
	v := make([]float64, 20)
	for i := range v {
		v[i] = float64(i + 1)
	}
	low, high := interval(v) // ranks 6 and 15 of 20, as tables have it
	assert.Equal(t, 6., low)
	assert.Equal(t, 15., high)
	low, high = interval([]float64{3, 1, 2, 5, 4, 6})
	assert.Equal(t, 1., low)
	assert.Equal(t, 6., high)
}

func TestAFigureHoldsOrIsMissed(t *testing.T) {
	for _, c := range []struct {
		median, must, aim float64
		less              bool
		want              string
	}{
		{5, 4.5, 8, false, "holds"}, {9, 4.5, 8, false, "aim reached"}, {4, 4.5, 8, false, "missed"}, {4, 0, 0, false, ""},
		{0.7, 0.8, 0.6, true, "holds"}, {0.5, 0.8, 0.6, true, "aim reached"}, {0.9, 0.8, 0.6, true, "missed"},
	} {
		assert.Equal(t, c.want, ratio{Value: spread{Median: c.median}, Must: c.must, Aim: c.aim, Less: c.less}.word())
	}
}

func TestResultsAreKeptAndRendered(t *testing.T) {
	dir := t.TempDir()
	r := &result{Workload: "pictures", Title: "Pictures", Command: "bench/run.sh", Machine: "2 cores",
		Lines:   []line{{Side: "penstock", Unit: "pictures/s", Value: spread{1500, 1400, 1600}, Passes: 5}, {Side: "torch <b>", Unit: "pictures/s", Value: spread{300, 290, 310}, Passes: 5}},
		Ratios:  []ratio{{What: "pictures a second", A: "penstock", B: "torch", Value: spread{4, 3.9, 4.1}, Pairs: []float64{4}, Must: 4.5, Aim: 8}, {What: "pictures a second", A: "penstock", B: "other", Value: spread{0.9, 0.9, 0.9}, Pairs: []float64{0.9}}},
		Checks:  []check{{"every sample once", "63 of 64", false}},
		Missing: []string{"dali: no such package"}}
	require.NoError(t, r.write(dir))
	all, err := readResults(dir)
	require.NoError(t, err)
	require.Equal(t, []*result{r}, all)
	text := render(all)
	for _, want := range []string{"missed", "wanted 4.50", "penstock against other: 0.90", "does not hold", "63 of 64", "dali: no such package", "1,500 (1,400 to 1,600)",
		"No figures are kept of: large, slow, tiny, paths, turnaround, first, cost."} {
		assert.Contains(t, text, want)
	}
	svg := plots(all)["rates.svg"]
	assert.Contains(t, svg, "torch &lt;b&gt;")
	assert.Contains(t, svg, "prefers-color-scheme:dark")

	docs := t.TempDir()
	page := filepath.Join(docs, "benchmarks.md")
	require.NoError(t, os.WriteFile(page, []byte("before\n"+beginMark+"what was there"+endMark+"\nafter\n"), 0o644))
	require.NoError(t, renderAll(dir, docs))
	got, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(got), "before\n")
	assert.Contains(t, string(got), "\nafter\n")
	assert.NotContains(t, string(got), "what was there")
	require.NoError(t, os.WriteFile(page, []byte("no marks"), 0o644))
	assert.ErrorContains(t, renderAll(dir, docs), "are not there")
}

// The page is what bench/run.sh --render makes of the results that are kept.
func TestThePageIsMadeOfTheResults(t *testing.T) {
	all, err := readResults("../results")
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/benchmarks.md")
	require.NoError(t, err)
	want, err := splice(string(page), render(all))
	require.NoError(t, err)
	assert.Equal(t, want, string(page), "run bench/run.sh --render")
	for name, svg := range plots(all) {
		got, err := os.ReadFile("../../docs/plots/" + name)
		require.NoError(t, err)
		assert.Equal(t, svg, string(got), name)
	}
	for _, r := range all {
		assert.NotEqual(t, "smoke", r.Mode)
		assert.Empty(t, r.failed(), r.Workload)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00", 0.02: "0.02", 0.5: "0.50", 4.567: "4.57", 45.67: "45.7", 456.7: "457", 4567: "4,567", 45678: "46,000", 1234567: "1,235,000"} {
		assert.Equal(t, want, number(v))
	}
}

// The commands of both sides have the same fields.
func TestAnswersSpeakTheSameWords(t *testing.T) {
	var a answer
	dec := json.NewDecoder(strings.NewReader(`{"seconds":1,"cpu":2,"first":3,"items":4,"worked":5,"batches":6,"sum":7,"shape":[8],"dtype":"x","labels":[9],"version":"v","import_seconds":10}`))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&a))
	assert.Equal(t, answer{1, 2, 3, 4, 5, 6, 7, []int{8}, "x", []int64{9}, "v", 10}, a)
}
