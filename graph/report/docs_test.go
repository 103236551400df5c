package report_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/report"
)

const docs = "../../docs"

var (
	shown  = regexp.MustCompile("(?s)<!-- graph/report/(testdata/\\S+) -->\n```text\n(.*?)```\n")
	quoted = regexp.MustCompile("`([^`\n]+)`")
)

func TestTheGuideShowsTheGoldenReports(t *testing.T) {
	path := filepath.Join(docs, "reading-a-report.md")
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	want := shown.ReplaceAllStringFunc(string(page), func(block string) string {
		file := shown.FindStringSubmatch(block)[1]
		s, ok := golden()[strings.TrimSuffix(filepath.Base(file), ".txt")]
		require.True(t, ok, file)
		return "<!-- graph/report/" + file + " -->\n```text\n" + report.Table(s) + "```\n"
	})
	require.Len(t, shown.FindAllString(want, -1), 3)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		page = []byte(want)
	}
	assert.Equal(t, want, string(page), "write it anew with: go test ./graph/report -update")
}

// What the text of a case quotes must stand in the report that it explains.
func TestTheGuideQuotesOnlyWhatTheReportSays(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(docs, "reading-a-report.md"))
	require.NoError(t, err)
	for _, section := range strings.Split(string(page), "\n## ") {
		block := shown.FindStringSubmatch(section)
		if block == nil {
			continue
		}
		said := strings.Join(strings.Fields(block[2]), " ")
		text := strings.Replace(section, block[0], "", 1)
		for _, q := range quoted.FindAllStringSubmatch(text, -1) {
			switch q[1] {
			case "wait in", "wait out", "can do/s", "window": // heads of columns, which stand on two lines, and a key
				continue
			}
			assert.Contains(t, said, q[1], "quoted in the guide")
		}
	}
}

func TestTheMetricsPageExplainsEveryKeyOfTheReport(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(docs, "metrics.md"))
	require.NoError(t, err)
	var walk func(rule map[string]any)
	walk = func(rule map[string]any) {
		if items, ok := rule["items"].(map[string]any); ok {
			walk(items)
		}
		properties, _ := rule["properties"].(map[string]any)
		for key, p := range properties {
			assert.Contains(t, string(page), "`"+key+"`", "docs/metrics.md")
			walk(p.(map[string]any))
		}
	}
	walk(rules(t))
}
