package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestReportsEqualTheirGoldenFiles(t *testing.T) {
	for name, s := range golden() {
		t.Run(name, func(t *testing.T) {
			text, err := report.JSON(s)
			require.NoError(t, err)
			compare(t, name+".txt", report.Table(s))
			compare(t, name+".json", string(text))
			compare(t, name+".md", report.Markdown(s))
		})
	}
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "write it with: go test ./graph/report -update")
	assert.Equal(t, string(want), got, "if the change is meant: go test ./graph/report -update")
}

func TestTextFitsAHundredColumnsOfPlainASCII(t *testing.T) {
	all := golden()
	big := golden()["jitter"]
	for i := range big.Stages {
		st := &big.Stages[i]
		st.ID, st.Kind = "a_stage_with_a_long_name_"+st.ID, "of_a_kind_that_is_long_as_well"
		st.Workers, st.WorkersAuto, st.Buffer, st.From = 1024, true, 4096, nil
		st.ItemsIn, st.ItemsOut = 123_456_789, 123_456_789
		st.Queue.Mean, st.Service.Mean, st.Service.P95 = some(1020.0), 1234*time.Microsecond, 4567*time.Millisecond
	}
	all["big"] = big
	for name, s := range all {
		for i, line := range strings.Split(report.Table(s), "\n") {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 100, "%s, line %d: %s", name, i+1, line)
			assert.Less(t, strings.IndexFunc(line, func(r rune) bool { return r > 126 || r < 32 }), 0, line)
		}
		assert.LessOrEqual(t, len(report.LiveLine(s)), 100, name)
	}
}

func TestAQueueThatWasLongerBeforeIsExplained(t *testing.T) {
	s := golden()["decode"]
	const note = "the queue was longer before"
	assert.NotContains(t, strings.Join(strings.Fields(report.Table(s)), " "), note)
	s.Stages = slices.Clone(s.Stages)
	s.Stages[0].Queue.Mean = some(float64(s.Stages[0].Buffer) + 1)
	assert.Contains(t, strings.Join(strings.Fields(report.Table(s)), " "), note)
}
