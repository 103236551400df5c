package spec_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/item"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/spec"
)

var update = flag.Bool("update", false, "write the golden files anew")

func noEnv(string) (string, bool) { return "", false }

func lint(t testing.TB, text string, set ...string) string {
	_, d := spec.Parse("train.yaml", []byte(text), catalog(t), spec.Options{Set: set, Getenv: noEnv})
	return d.Error()
}

// Each testdata/*.yaml has its diagnostics beside it. Lines "#! --set x=y" at its begin are overrides.
func TestDiagnosticsEqualTheirGoldenFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			var set []string
			for _, l := range strings.Split(string(text), "\n") {
				if s, ok := strings.CutPrefix(l, "#! --set "); ok {
					set = append(set, s)
				}
			}
			_, d := spec.Parse(filepath.Base(f), text, catalog(t), spec.Options{Set: set, Getenv: noEnv})
			got := d.Error() + "\n"
			golden := strings.TrimSuffix(f, ".yaml") + ".txt"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}

const whole = `pipeline: flowers
seed: 7
epochs: 3
budget: {cpu: 80%, memory: 2GiB}
stages:
  - {id: read,    pictures: {root: data/train}, sampler: shuffled, workers: 4}
  - {id: decode,  decode_image: {}, workers: 8, buffer: 64, window: 128, on_error: skip}
  - {id: flip,    random_flip}
  - {id: wait,    delay: {time: {normal: {mean: 5ms, stddev: 1ms}}}, order: completion}
  - {id: collate, collate: {size: 64}}
  - {id: train,   accelerator: {step: 30ms}}
`

func TestASpecAndTheGoProgramDeclareTheSamePipeline(t *testing.T) {
	s, d := spec.Parse("specs/train.yaml", []byte(whole), catalog(t), spec.Options{Getenv: noEnv, Dir: "specs"})
	require.NoError(t, d.Err())
	require.Empty(t, d)

	p := graph.New("flowers", graph.Seed(7), graph.Epochs(3), graph.WithBudget(graph.Budget{CPU: 0.8, Memory: 2 << 30}))
	read := graph.From(p, "read", pictures{Root: "specs/data/train"}, graph.Sampler(shuffled{}), graph.Workers(4))
	pics := graph.Via(read, "decode", decodeImage{}, graph.Workers(8), graph.Buffer(64), graph.Window(128), graph.OnError(graph.Skip))
	flipped := graph.Via(pics, "flip", flip{})
	late := graph.Via(flipped, "wait", delay[*item.Sample]{Time: graph.NormalTime(5*time.Millisecond, time.Millisecond)},
		graph.Order(graph.CompletionOrder))
	batches := graph.Via(late, "collate", collate{Size: 64})
	graph.Into(batches, "train", accelerator{Step: graph.Fixed(30 * time.Millisecond)})
	require.NoError(t, p.Build())

	assert.Equal(t, p.Describe(), s.Pipeline.Describe())
	assert.Equal(t, int64(2<<30), s.Memory)
	assert.Equal(t, whole, s.Text)
}

func TestAMixInASpecIsThatOfTheGoProgram(t *testing.T) {
	text := `{pipeline: two, seed: 3, stages: [
  {id: a, pictures: {root: a}},
  {id: b, pictures: {root: b}},
  {id: both, mix: {weights: [0.7, 0.3], stop: repeat}, from: [a, b], buffer: 7},
  {id: same, mix: , from: [c, both]},
  {id: c, pictures: {root: c}},
  {id: end, discard: {}, from: same},
]}`
	s, d := spec.Parse("two.yaml", []byte(text), catalog(t), spec.Options{})
	require.NoError(t, d.Err())
	p := graph.New("two", graph.Seed(3))
	a, b := graph.From(p, "a", pictures{Root: "a"}), graph.From(p, "b", pictures{Root: "b"})
	both := graph.Mix(p, "both", []graph.Port[*item.Sample]{a, b}, graph.Mixing{Weights: []float64{0.7, 0.3}, Stop: graph.StopRepeat}, graph.Buffer(7))
	c := graph.From(p, "c", pictures{Root: "c"})
	graph.Into(graph.Mix(p, "same", []graph.Port[*item.Sample]{c, both}, graph.Mixing{}), "end", discard[*item.Sample]{})
	require.Equal(t, p.Describe(), s.Pipeline.Describe())
}

func TestMergedSourcesAreDeclaredInTheOrderOfTheFile(t *testing.T) {
	text := `{pipeline: two, stages: [
  {id: both, merge: {}, from: [b, a]},
  {id: b, pictures: {root: b}},
  {id: a, pictures: {root: a}},
  {id: end, discard: {}, from: both},
]}`
	s, d := spec.Parse("two.yaml", []byte(text), catalog(t), spec.Options{})
	require.NoError(t, d.Err())
	p := graph.New("two")
	b := graph.From(p, "b", pictures{Root: "b"})
	a := graph.From(p, "a", pictures{Root: "a"})
	graph.Into(graph.Merge(p, "both", []graph.Port[*item.Sample]{b, a}), "end", discard[*item.Sample]{})
	assert.Equal(t, p.Describe(), s.Pipeline.Describe())
}

// The field case about numbers and words that are read in another type than was meant.
func TestEveryFormOfANumberIsReadByTheStatedRule(t *testing.T) {
	for text, want := range map[string]string{
		`4`:           "",
		`auto`:        "",
		`"4"`:         `workers: wanted a whole number, got the text "4" [field_type] (hint: take the quotes away)`,
		`4.0`:         "workers: wanted a whole number in decimal digits, got 4.0 [field_type] (hint: write 4)",
		`-1`:          "workers must be at least 1, got -1 [field_range] (hint: a number from 1 to 16384, or auto)",
		`0`:           "workers must be at least 1, got 0 [field_range] (hint: a number from 1 to 16384, or auto)",
		`1e3`:         "workers: wanted a whole number in decimal digits, got 1e3 [field_type] (hint: write 1000)",
		`0777`:        "workers: wanted a whole number in decimal digits, got 0777 [field_type] (hint: write 777, or 511 if octal was meant)",
		`0o17`:        "workers: wanted a whole number in decimal digits, got 0o17 [field_type] (hint: write 15)",
		`on`:          "workers: wanted a whole number in decimal digits, got on [field_type] (hint: a number from 1 to 16384, or auto)",
		`~`:           "workers: wanted a whole number, got nothing [field_type] (hint: leave the key out for the default)",
		`99999999999`: "workers must be at most 16384, got 99999999999 [field_range] (hint: a number from 1 to 16384, or auto)",
	} {
		got := lint(t, strings.Replace(whole, "workers: 8", "workers: "+text, 1))
		if want != "" {
			want = `train.yaml:7:46: stage "decode": ` + want
		}
		assert.Equal(t, want, got, text)
	}
}

func TestSeedsAreExactTo64Bits(t *testing.T) {
	for _, seed := range []string{"9007199254740993", "18446744073709551615", "0"} {
		s, d := spec.Parse("x.yaml", []byte(strings.Replace(whole, "seed: 7", "seed: "+seed, 1)), catalog(t), spec.Options{})
		require.NoError(t, d.Err())
		assert.Contains(t, s.Pipeline.Describe(), "seed="+seed+" ")
	}
	assert.Contains(t, lint(t, strings.Replace(whole, "flowers", `"a\nb"`, 1)), "a name has no line breaks")
	for seed, want := range map[string]string{
		"18446744073709551616": "seed: 18446744073709551616 does not fit in 64 bits [field_range]",
		"-1":                   "seed must be at least 0, got -1 [field_range]",
		"1.5":                  "seed: wanted a whole number from 0 in decimal digits, got 1.5 [field_type]",
	} {
		assert.Equal(t, "train.yaml:2:7: "+want, lint(t, strings.Replace(whole, "seed: 7", "seed: "+seed, 1)))
	}
}

func TestEpochsAndBudgetsHaveTheirForms(t *testing.T) {
	for text, want := range map[string]string{
		"epochs: forever":                "epochs=forever",
		"budget: {cpu: 12.5%}":           "cpu=12.5%",
		"budget: {memory: 1.5GiB}":       "memory=1610612736",
		`budget: {"cpu": "50%"}`:         "cpu=50%",
		"epochs: 2\nbudget: {cpu: 100%}": "epochs=2 cpu=100%",
	} {
		s, d := spec.Parse("x.yaml", []byte("pipeline: x\n"+text+"\nstages: [{id: a, pictures: {root: r}}, {id: b, discard: {}}]"),
			catalog(t), spec.Options{})
		require.NoError(t, d.Err(), text)
		assert.Contains(t, s.Pipeline.Describe(), want)
	}
}

func TestVariablesAreTakenFromTheEnvironment(t *testing.T) {
	env := map[string]string{"N": "3", "ROOT": "01234", "EMPTY": ""}
	getenv := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	text := `pipeline: ${NAME:-x}
seed: ${N}
stages:
  - {id: a, pictures: {root: "${ROOT}/${EMPTY:-train}-$${N}$5", count: "${N}"}, workers: "${N}${N}"}
  - {id: b, discard: {}}
`
	s, d := spec.Parse("x.yaml", []byte(text), catalog(t), spec.Options{Getenv: getenv})
	require.NoError(t, d.Err())
	for _, want := range []string{"pipeline x seed=3 ", "Root:01234/train-${N}$5", "Count:3", "workers=33"} {
		assert.Contains(t, s.Pipeline.Describe(), want)
	}
}

func TestOverridesChangeKeysFieldsAndThePipeline(t *testing.T) {
	s, d := spec.Parse("x.yaml", []byte(whole), catalog(t), spec.Options{Set: []string{"decode.workers=3", "collate.size=7",
		"seed=9", "seed=10", "budget.memory=1GiB", "decode.max_pixels=5", "wait.time={uniform: {min: 1ms, max: 2ms}}",
		"pipeline=other", "read.root=12", "read.sampler=sequential", "epochs=forever"}})
	require.NoError(t, d.Err())
	for _, want := range []string{"pipeline other seed=10 epochs=forever cpu=80% memory=1073741824", "MaxPixels:5",
		"workers=3 ", "Size:7", "uniform(1ms, 2ms)", "Root:12 ", "sampler=sequential"} {
		assert.Contains(t, s.Pipeline.Describe(), want)
	}
}

func TestPathsOfOverridesAreRelativeToTheWorkingFolder(t *testing.T) {
	for _, root := range []string{"${X}", `"${X}"`} {
		s, d := spec.Parse("specs/x.yaml", []byte(whole), catalog(t), spec.Options{Dir: "specs", Set: []string{"read.root=" + root}})
		require.NoError(t, d.Err())
		assert.Contains(t, s.Pipeline.Describe(), "{Root:${X} ", "variables are left to the shell")
	}
}

func TestAPartOfASpecCanBeDeclaredAlone(t *testing.T) {
	s, d := spec.Parse("x.yaml", []byte(whole), catalog(t), spec.Options{Upto: "flip"})
	require.NoError(t, d.Err())
	port, ok := registry.PortOf[*item.Sample](s.Port)
	require.True(t, ok)
	graph.Output(port, "look")
	require.NoError(t, s.Pipeline.Build())
	assert.NotContains(t, s.Pipeline.Describe(), "collate")

	_, d = spec.Parse("x.yaml", []byte(whole), catalog(t), spec.Options{Upto: "train"})
	assert.EqualError(t, d.Err(), `x.yaml:11:5: stage "train": a sink has no output [no_output] (hint: name the stage before it)`)
	_, d = spec.Parse("x.yaml", []byte(whole), catalog(t), spec.Options{Upto: "decod"})
	assert.EqualError(t, d.Err(), `x.yaml: there is no stage "decod" [unknown_stage] (hint: did you mean "decode"?)`)
}

func TestLimitsOfASpecHold(t *testing.T) {
	assert.Equal(t, "train.yaml: a spec may have 1MiB, this one has more [too_large]", lint(t, strings.Repeat("# x\n", spec.MaxBytes/4+1)))
	assert.Contains(t, lint(t, "a: "+strings.Repeat("[", 60)+strings.Repeat("]", 60)), "[too_large]")

	laughs := "a0: &a0 [x, x]\n"
	for i := 1; i < 28; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	begin := time.Now()
	assert.Contains(t, lint(t, laughs), "a spec may have 100000 values [too_large]")
	assert.Less(t, time.Since(begin), 10*time.Second)
	assert.Contains(t, lint(t, "a: &a [*a]"), "[")

	many := "pipeline: x\nstages:\n" + strings.Repeat("  - {id: a, discard: {}}\n", spec.MaxStages+1)
	assert.Equal(t, "train.yaml:2:1: a spec may have 1000 stages, this one has 1001 [too_large]", lint(t, many))
}

func TestAnUnreadableSpecIsADiagnostic(t *testing.T) {
	_, d := spec.Load("testdata/nothing.yaml", nil, catalog(t), spec.Options{})
	assert.EqualError(t, d.Err(), "testdata/nothing.yaml: cannot read the spec: no such file or directory [unreadable]")
	_, d = spec.Load("testdata", nil, catalog(t), spec.Options{})
	assert.ErrorContains(t, d.Err(), "testdata: cannot read the spec: is a directory [unreadable]")
	s, d := spec.Load("-", strings.NewReader(whole), catalog(t), spec.Options{})
	require.NoError(t, d.Err())
	assert.Contains(t, s.Pipeline.Describe(), "Root:data/train ")
}

func FuzzParseEndsWithDiagnosticsOrAPipeline(f *testing.F) {
	f.Add(whole, "decode.workers=3")
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, name := range files {
		text, _ := os.ReadFile(name)
		f.Add(string(text), "a=[b")
	}
	c := catalog(f)
	f.Fuzz(func(t *testing.T, text, set string) {
		s, d := spec.Parse("x", []byte(text), c, spec.Options{Set: []string{set}, Getenv: noEnv})
		if (s == nil) != (d.Errors() > 0) {
			t.Fatalf("spec %v with diagnostics %v", s, d)
		}
		for _, x := range d {
			if x.Code == "" || x.Msg == "" {
				t.Fatalf("empty diagnostic %#v", x)
			}
		}
	})
}

func TestKeysOfJobsAreThoseOfGo(t *testing.T) {
	text := "rank: 1\nworld: 4\nuneven: drop\nsteps_per_epoch: 9\n" + whole
	s, d := spec.Parse("x.yaml", []byte(text), catalog(t), spec.Options{Getenv: noEnv})
	require.Empty(t, d)
	assert.Contains(t, s.Pipeline.Describe(), " rank=1 world=4 uneven=drop steps_per_epoch=9")
	assert.True(t, s.Ranked)
	assert.Equal(t, 4, s.World)
}
