package compare_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/report/internal/schema"
)

func TestEveryGoldenComparisonFollowsItsSchema(t *testing.T) {
	text, err := os.ReadFile("compare.schema.json")
	require.NoError(t, err)
	var rules map[string]any
	require.NoError(t, json.Unmarshal(text, &rules))
	page, err := os.ReadFile("../../../docs/comparing-runs.md")
	require.NoError(t, err)
	for key := range rules["properties"].(map[string]any) {
		if key != "version" {
			assert.Contains(t, string(page), "`"+key+"`", "docs/comparing-runs.md")
		}
	}
	for name, c := range golden(t) {
		text, err := c.JSON()
		require.NoError(t, err)
		problems, err := schema.Violations(rules, text, name)
		require.NoError(t, err)
		assert.Empty(t, problems)
		for what, breakIt := range map[string]func(d map[string]any){
			"a key is missing":    func(d map[string]any) { delete(d, "digest") },
			"a key is unknown":    func(d map[string]any) { d["figures"].([]any)[0].(map[string]any)["colour"] = "red" },
			"an unknown standing": func(d map[string]any) { d["figures"].([]any)[0].(map[string]any)["standing"] = "so so" },
			"a text for a number": func(d map[string]any) { d["alarms"] = "two" },
		} {
			var d map[string]any
			require.NoError(t, json.Unmarshal(text, &d))
			breakIt(d)
			broken, err := json.Marshal(d)
			require.NoError(t, err)
			problems, err := schema.Violations(rules, broken, name)
			require.NoError(t, err)
			assert.Len(t, problems, 1, what)
		}
	}
}
