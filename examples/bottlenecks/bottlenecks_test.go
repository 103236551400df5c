package bottlenecks

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/report"
	"github.com/penstock-go/penstock/graph/spec"
	"github.com/penstock-go/penstock/sinks"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

// planted is what the first line of a spec promises: the guilty stage, or "not starved".
func planted(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	first, err := bufio.NewReader(f).ReadString('\n')
	require.NoError(t, err)
	verdict, ok := strings.CutPrefix(strings.TrimSpace(first), "# verdict: ")
	require.True(t, ok, "%s must begin with its verdict", file)
	return verdict
}

func specs(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 6)
	return files
}

func load(t *testing.T, file string, set ...string) *graph.Pipeline {
	t.Helper()
	c, err := registry.NewCatalog(slices.Concat(sources.Kinds(), stages.Kinds(), sinks.Kinds())...)
	require.NoError(t, err)
	s, found := spec.Load(file, nil, c, spec.Options{Set: set})
	require.Empty(t, found)
	return s.Pipeline
}

func run(t *testing.T, p *graph.Pipeline) graph.Snapshot {
	t.Helper()
	r, err := p.Start(context.Background())
	require.NoError(t, err)
	require.NoError(t, r.Wait())
	return r.Snapshot()
}

// parts are the steady wait, what is charged to a stage of it, and what is charged to nobody.
func parts(s graph.Snapshot, stage string) (wait, charged, nobody time.Duration) {
	for _, b := range s.Blame {
		if b.Phase != graph.PhaseSteady {
			continue
		}
		wait += b.Time
		if b.Cause == graph.CauseUnattributed {
			nobody += b.Time
		} else if b.Stage == stage {
			charged += b.Time
		}
	}
	return wait, charged, nobody
}

// fault says what is wrong with a report; "" if it is as planted.
func fault(s graph.Snapshot, want string) string {
	v := report.Judge(s)
	if want == "not starved" {
		if !v.Measured || v.Starved || v.Bottleneck != "" {
			return "it is not starved: " + v.Sentence
		}
		return ""
	}
	wait, charged, nobody := parts(s, want)
	switch {
	case !v.Starved || v.Bottleneck != want:
		return "the verdict must name " + want + ": " + v.Sentence
	case charged < wait*9/10:
		return want + " carries only " + charged.String() + " of " + wait.String()
	case nobody > wait/100:
		return nobody.String() + " of " + wait.String() + " is charged to nobody"
	}
	return ""
}

func TestTheVerdictNamesThePlantedStageOnTheRealClock(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for ten seconds; the same in virtual time follows")
	}
	for _, file := range specs(t) {
		t.Run(file, func(t *testing.T) {
			want := planted(t, file)
			var s graph.Snapshot
			for range 3 { // other programs on the machine can spoil a run, but not make a wrong verdict right
				s = run(t, load(t, file))
				if fault(s, want) == "" {
					return
				}
			}
			t.Errorf("%s\n%s", fault(s, want), report.Table(s))
		})
	}
}

func TestTheVerdictIsExactInVirtualTime(t *testing.T) {
	for _, file := range specs(t) {
		t.Run(file, func(t *testing.T) {
			want, p := planted(t, file), load(t, file)
			synctest.Test(t, func(t *testing.T) {
				s := run(t, p)
				assert.Empty(t, fault(s, want), report.Table(s))
				var all time.Duration
				for _, b := range s.Blame {
					all += b.Time
					assert.NotEqual(t, graph.CauseUnattributed, b.Cause)
				}
				assert.Equal(t, s.Sink.Wait, all)
				for _, st := range s.Stages {
					assert.Equal(t, st.Lifetime, st.WaitIn+st.Busy+st.WaitOut, st.ID)
				}
			})
		})
	}
}

// Turning the knob that the verdict names is the proof of it: the wait that it was blamed for goes away.
func TestTheAdviceHelpsInVirtualTime(t *testing.T) {
	for _, file := range specs(t) {
		if planted(t, file) == "not starved" {
			continue
		}
		t.Run(file, func(t *testing.T) {
			before := load(t, file)
			synctest.Test(t, func(t *testing.T) {
				s := run(t, before)
				v := report.Judge(s)
				require.NotNil(t, v.Next)
				require.NotNil(t, v.Next.To)
				knob := v.Next.Stage + "." + v.Next.Knob + "=" + strconv.Itoa(*v.Next.To)
				after := run(t, load(t, file, knob))
				assert.Less(t, after.Sink.SteadyWait, s.Sink.SteadyWait/2, "%s\n%s\n%s", knob, report.Table(s), report.Table(after))
			})
		})
	}
}

// The counterfactual: what a stage is blamed for is what making it instant saves.
func TestBlameIsWhatAnInstantStageSavesInVirtualTime(t *testing.T) {
	instant := map[string]string{"read": "read.delay=1ns", "decode": "decode.time=1ns", "transform": "transform.time=1ns", "mix_up": "mix_up.time=1ns"}
	for _, file := range specs(t) {
		t.Run(file, func(t *testing.T) {
			p, without := load(t, file), map[string]*graph.Pipeline{}
			for stage, set := range instant {
				without[stage] = load(t, file, set)
			}
			synctest.Test(t, func(t *testing.T) {
				before := run(t, p)
				for stage, p := range without {
					wait, charged, _ := parts(before, stage)
					saved := wait - run(t, p).Sink.Steady
					assert.InDelta(t, float64(charged), float64(saved), 0.05*float64(wait), "%s: charged %v, saved %v of %v", stage, charged, saved, wait)
				}
			})
		})
	}
}
