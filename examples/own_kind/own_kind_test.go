package ownkind_test

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

// overlay lays the two files over the folder stages, for the go command.
func overlay(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	require.NoError(t, err)
	replace := map[string]string{}
	for _, name := range []string{"dim.go", "dim_test.go"} {
		replace[filepath.Join(here, "..", "..", "stages", name)] = filepath.Join(here, "testdata", name)
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(file, text, 0o644))
	return file
}

func output(t *testing.T, dir, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	if _, ended := err.(*exec.ExitError); !ended {
		require.NoError(t, err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func done(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	text, code := output(t, dir, name, args...)
	require.Zero(t, code, "%s %s: %s", name, strings.Join(args, " "), text)
	return text
}

func TestAStageOfOnesOwnNeedsNoOtherEdit(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the compiler")
	}
	over, dir := overlay(t), t.TempDir()
	runner := filepath.Join(dir, "penstock")
	done(t, "../..", "go", "build", "-overlay", over, "-o", runner, "./cmd/penstock")

	assert.Regexp(t, `(?m)^  dim +samples -> samples +Makes pictures darker\.$`, done(t, ".", runner, "kinds"))
	about := done(t, ".", runner, "kinds", "dim")
	for _, want := range []string{"percent: whole number; at least 1; at most 100; default 50", "how much of the brightness is left", "- {id: work, dim: {percent: 50}}"} {
		assert.Contains(t, about, want)
	}
	var schema struct {
		Properties struct {
			Stages struct {
				Items struct{ Properties map[string]any }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(done(t, ".", runner, "kinds", "--schema")), &schema))
	assert.Contains(t, schema.Properties.Stages.Items.Properties, "dim")

	spec := filepath.Join("testdata", "pipeline.yaml")
	assert.Contains(t, done(t, ".", runner, "lint", spec), "no problems")
	wrong, code := output(t, ".", runner, "lint", spec, "--set", "dark.percent=101", "--set", "dark.percnt=3")
	assert.Equal(t, 2, code)
	assert.Contains(t, wrong, "percent must be at most 100, got 101 [field_range]")
	assert.Contains(t, wrong, `did you mean "percent"?`)
	early, _ := output(t, ".", runner, "lint", spec, "--set", "dark.from=read", "--set", "decode.from=dark")
	assert.Contains(t, early, "[missing_field]")
	assert.Regexp(t, `(?m)^ *dark +dim +auto`, done(t, ".", runner, "run", spec, "--no-fuse"))
	bright, dark := done(t, ".", runner, "inspect", spec, "--at", "decode"), done(t, ".", runner, "inspect", spec, "--at", "dark")
	assert.Contains(t, bright, "image 24×32×3")
	assert.NotEqual(t, bright, dark)
}

func TestAStageOfOnesOwnIsDocumentedAndTested(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the compiler")
	}
	over, dir := overlay(t), t.TempDir()
	program := filepath.Join(dir, "docs.test")
	done(t, "../..", "go", "test", "-overlay", over, "-c", "-o", program, "./cmd/penstock")
	place := filepath.Join(dir, "cmd", "penstock") // the generator writes to ../../docs
	require.NoError(t, os.MkdirAll(place, 0o755))
	done(t, place, program, "-test.run", "DocumentationOfKinds", "-update")
	page, err := os.ReadFile(filepath.Join(dir, "docs", "reference", "dim.md"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "| `percent` | whole number | at least 1; at most 100 | `50` | how much of the brightness is left |")

	text := done(t, "../..", "go", "test", "-overlay", over, "./stages", "-run", "Dim|KindsAreSound", "-v")
	assert.Contains(t, text, "--- PASS: TestDimConforms")
}
