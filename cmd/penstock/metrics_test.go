package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph"
)

var (
	sampleLine = regexp.MustCompile(`^(penstock_[a-z_]+)\{pipeline="(?:[^"\\\n]|\\.)*"(?:,[a-z_]+="(?:[^"\\\n]|\\.)*")*\} (\S+)$`)
	metricType = regexp.MustCompile(`^# TYPE (penstock_[a-z_]+) (counter|gauge|histogram|summary)$`)
)

// wellFormed checks a text as Prometheus reads it: each family once, with its type before its samples, every sample once.
func wellFormed(t *testing.T, text string) (families map[string]string) {
	t.Helper()
	families = map[string]string{}
	seen := map[string]bool{}
	now := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		if m := metricType.FindStringSubmatch(line); m != nil {
			require.NotContains(t, families, m[1])
			families[m[1]], now = m[2], m[1]
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		require.NotNil(t, m, line)
		name := m[1]
		if k := families[now]; k == "histogram" || k == "summary" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				name = strings.TrimSuffix(name, suffix)
			}
		}
		require.Equal(t, now, name, line)
		key := line[:strings.LastIndex(line, " ")]
		require.False(t, seen[key], "twice: %s", line)
		seen[key] = true
		v, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		require.GreaterOrEqual(t, v, 0.0, line)
		if families[now] == "counter" {
			require.True(t, strings.HasSuffix(now, "_total"), now)
		}
	}
	return families
}

func TestMetricsAreWellFormedAndEqualTheSnapshot(t *testing.T) {
	s := inVirtualTime(t, shown)
	s.Pipeline = "a \"quoted\"\nname \\ \xff"
	text := metrics(s)
	kinds := wellFormed(t, text)
	assert.Equal(t, "histogram", kinds["penstock_sink_waits_seconds"])
	assert.Contains(t, text, `pipeline="a \"quoted\"\nname \\ `+"\uFFFD"+`"`)
	value := func(name, labels string) float64 {
		m := regexp.MustCompile(`(?m)^penstock_` + name + `\{.*` + labels + `\} (\S+)$`).FindStringSubmatch(text)
		require.NotNil(t, m, "%s %s", name, labels)
		x, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		return x
	}
	assert.EqualValues(t, 3840, value("samples_total", ""))
	assert.EqualValues(t, 0, value("running", ""))
	assert.Equal(t, s.Stages[1].Busy.Seconds(), value("stage_seconds_total", `stage="decode",kind="delay",state="busy"`))
	assert.Equal(t, s.Sink.Steady.Seconds(), value("sink_wait_seconds_total", `phase="steady"`))
	assert.EqualValues(t, 1, value("bottleneck", `stage="decode"`))
	assert.EqualValues(t, s.Sink.Waits.Count, value("sink_waits_seconds_bucket", `le="\+Inf"`))
	assert.EqualValues(t, s.Sink.Waits.Count, value("sink_waits_seconds_bucket", `le="100"`))
	blamed := 0.0
	for _, m := range regexp.MustCompile(`(?m)^penstock_blame_seconds_total\{.*\} (\S+)$`).FindAllStringSubmatch(text, -1) {
		x, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		blamed += x
	}
	assert.InDelta(t, s.Sink.Wait.Seconds(), blamed, 1e-9)
}

func TestWhatIsNotKnownIsNoMetric(t *testing.T) {
	text := metrics(graph.Snapshot{Pipeline: "x", Running: true, Totals: graph.Totals{Elapsed: time.Second}})
	wellFormed(t, text)
	for _, name := range []string{"sink_wait_ratio", "starved", "bottleneck", "resident_bytes", "first_batch_seconds", "stage_workers"} {
		assert.NotContains(t, text, "penstock_"+name)
	}
}

func TestTheMetricsPageNamesEveryMetric(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(docs, "metrics.md"))
	require.NoError(t, err)
	served := map[string]bool{}
	for _, f := range families(&graph.Snapshot{}) {
		served["penstock_"+f.name] = true
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("`(penstock_[a-z_]+)`").FindAllStringSubmatch(string(page), -1) {
		documented[m[1]] = true
	}
	assert.Equal(t, served, documented)
}
