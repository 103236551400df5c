package report_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/report/internal/schema"
)

func rules(t testing.TB) map[string]any {
	t.Helper()
	text, err := os.ReadFile("report.schema.json")
	require.NoError(t, err)
	var s map[string]any
	require.NoError(t, json.Unmarshal(text, &s))
	return s
}

// violations lists where a report departs from the schema.
func violations(t testing.TB, rules map[string]any, report []byte) []string {
	t.Helper()
	problems, err := schema.Violations(rules, report, "report")
	require.NoError(t, err)
	return problems
}
