package penstock_test

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/cuda"
	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/spec"
	"github.com/penstock-go/penstock/sinks"
	"github.com/penstock-go/penstock/sources"
	"github.com/penstock-go/penstock/stages"
)

var (
	linkForm = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	yamlForm = regexp.MustCompile("(?s)```yaml\n(.*?)```")
)

// pages are the Markdown files of the repository.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != "." && (d.Name()[0] == '.' || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if filepath.Ext(file) == ".md" {
			text, err := os.ReadFile(file)
			all[file] = string(text)
			return err
		}
		return nil
	}))
	return all
}

func TestLinksLeadSomewhere(t *testing.T) {
	for file, text := range pages(t) {
		for _, m := range linkForm.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(m[1])
			if err != nil || u.IsAbs() || u.Path == "" {
				continue
			}
			_, err = os.Stat(filepath.Join(filepath.Dir(file), filepath.FromSlash(u.Path)))
			assert.NoError(t, err, "%s: %s", file, m[0])
		}
	}
}

func TestTheSpecsOfTheReadmeHaveNoProblems(t *testing.T) {
	c, err := registry.NewCatalog(slices.Concat(sources.Kinds(), stages.Kinds(), sinks.Kinds(), cuda.Kinds())...)
	require.NoError(t, err)
	text := pages(t)["README.md"]
	found := yamlForm.FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, found)
	for i, m := range found {
		_, diagnostics := spec.Parse(fmt.Sprintf("README.md, block %d", i+1), []byte(m[1]), c, spec.Options{})
		assert.Empty(t, diagnostics)
	}
}

func TestDecisionsHaveTheirFormAndAreListed(t *testing.T) {
	list := pages(t)[filepath.Join("docs", "decisions", "README.md")]
	files, err := filepath.Glob("docs/decisions/[0-9]*.md")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		name := filepath.Base(f)
		assert.Contains(t, list, "("+name+")", "docs/decisions/README.md lists every decision")
		assert.True(t, strings.HasPrefix(string(text), "# "), name)
		for _, part := range []string{"Context", "Choice", "Cost"} {
			assert.Contains(t, string(text), part, "%s: context, choice, cost", name)
		}
	}
}

func TestTheArchitecturePageListsEveryRoom(t *testing.T) {
	text := pages(t)[filepath.Join("docs", "architecture.md")]
	for _, r := range rooms {
		assert.Regexp(t, "(?m)^\\|[^|]*`"+r.dir+"(/\\*|/penstock)?`", text)
	}
}
