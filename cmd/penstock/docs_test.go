package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/penstock-go/penstock/graph/registry"
	"github.com/penstock-go/penstock/graph/spec"
)

//go:generate go test . -run Documentation -update

var update = flag.Bool("update", false, "write generated documentation and golden files anew")

const docs = "../../docs"

// same compares a generated file with what is in the repository, or writes it.
func same(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
	}
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, want, string(got), "%s is stale: go generate ./cmd/penstock", file)
}

const generated = "<!-- made by go generate ./cmd/penstock; do not edit -->\n\n"

func TestDocumentationOfKindsIsUpToDate(t *testing.T) {
	c, err := newCatalog()
	require.NoError(t, err)
	var index strings.Builder
	index.WriteString("# Reference\n\n" + generated + "[How a spec is written](spec.md), [the command line](commands.md), " +
		"[a JSON Schema for editors](spec.schema.json), [diagnostics](../diagnostics.md).\n")
	files := map[string]bool{"README.md": true, "spec.md": true, "commands.md": true, "spec.schema.json": true}
	for _, g := range groups(c) {
		fmt.Fprintf(&index, "\n## %s\n\n| kind | items | |\n|---|---|---|\n", strings.ToUpper(g.title[:1])+g.title[1:])
		for _, k := range g.kinds {
			file := k.Name + ".md"
			files[file] = true
			fmt.Fprintf(&index, "| [%s](%s) | %s | %s |\n", k.Name, file, flow(k), k.Summary)
			same(t, filepath.Join(docs, "reference", file), reference(k))
		}
	}
	same(t, filepath.Join(docs, "reference", "README.md"), index.String())
	found, err := os.ReadDir(filepath.Join(docs, "reference"))
	require.NoError(t, err)
	for _, f := range found {
		assert.True(t, files[f.Name()], "docs/reference/%s is of no kind any more", f.Name())
	}
}

func reference(k registry.Kind) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%sA %s", k.Name, generated, roleWord(k))
	if f := flow(k); f != "" {
		fmt.Fprintf(&b, ": %s", f)
	}
	fmt.Fprintf(&b, ". %s\n", k.Summary)
	for _, l := range traits(k) {
		fmt.Fprintf(&b, "%s\n", l)
	}
	fmt.Fprintf(&b, "\n```yaml\n%s\n```\n", exampleLine(k))
	if len(k.Entries) > 0 && len(k.Entries[0].Fields) > 0 {
		b.WriteString("\n| field | takes | limits | default | |\n|---|---|---|---|---|\n")
		for _, f := range k.Entries[0].Fields {
			takes, def := string(f.Type), "`"+f.Default+"`"
			if f.Type == registry.TypeChoice {
				takes += " `" + strings.Join(f.Choices, "`, `") + "`"
			}
			if f.Required() {
				def = "required"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.Name, takes, strings.Join(f.Limits(), "; "), def, f.Doc)
		}
	}
	return b.String()
}

func TestDocumentationOfTheLanguageAndTheCommandsIsUpToDate(t *testing.T) {
	c, err := newCatalog()
	require.NoError(t, err)
	same(t, filepath.Join(docs, "reference", "spec.md"), "# How a spec is written\n\n"+generated+"```text\n"+specHelp()+"```\n")
	var b strings.Builder
	b.WriteString("# The command line\n\n" + generated + "```text\n" + overview() + "```\n")
	for _, x := range commands() {
		fmt.Fprintf(&b, "\n## penstock %s %s\n\nIt %s.\n\n```text\n%s```\n", x.name, x.args, x.summary, x.help)
	}
	same(t, filepath.Join(docs, "reference", "commands.md"), b.String())
	schema, err := spec.Schema(c)
	require.NoError(t, err)
	same(t, filepath.Join(docs, "reference", "spec.schema.json"), string(schema))
}

func TestHelpFitsEightyColumns(t *testing.T) {
	texts := []string{overview(), specHelp()}
	for _, c := range commands() {
		texts = append(texts, c.help)
	}
	for _, text := range texts {
		for _, line := range strings.Split(text, "\n") {
			assert.LessOrEqual(t, len([]rune(line)), 88, line)
		}
	}
}

func TestExamplesOfKindsAreSound(t *testing.T) {
	c, err := newCatalog()
	require.NoError(t, err)
	for _, k := range c.Kinds() {
		for _, e := range k.Entries {
			text := "pipeline: x\nstages:\n"
			if e.In != "" {
				text += "  - {id: begin, range: {count: 3}}\n"
			}
			if k.Role == registry.RoleMerge {
				text += "  - {id: a, range: {count: 3}}\n  - {id: b, range: {count: 3}}\n"
			}
			if e.In == "batches" {
				text += "  - {id: pack, collate: {size: 2}}\n"
			}
			text += "  " + exampleLine(k) + "\n"
			if e.Out != "" || k.Role == registry.RoleMerge {
				text += "  - {id: end, discard: {}}\n"
			}
			_, d := spec.Parse(k.Name, []byte(text), c, spec.Options{})
			for _, x := range d {
				assert.Contains(t, []string{"missing_field", "schema", "below"}, x.Code, "%v\n%s", x, text)
			}
		}
	}
}

func TestExamplesOfSamplersAreSound(t *testing.T) {
	c, err := newCatalog()
	require.NoError(t, err)
	for _, k := range c.Samplers() {
		text := "pipeline: x\nstages:\n  " + exampleLine(k) + "\n  - {id: end, discard: {}}\n"
		_, d := spec.Parse(k.Name, []byte(text), c, spec.Options{})
		for _, x := range d {
			assert.Equal(t, "schema", x.Code, "%v\n%s", x, text)
		}
	}
}

func TestExampleSpecsHaveNoProblems(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	r := penstock(t, append([]string{"lint"}, files...)...)
	assert.Equal(t, exitDone, r.code)
	assert.Equal(t, len(files), strings.Count(r.out, ": no problems\n"), r.out)
}

// Each code has an example in testdata/diagnostics: a spec, with the options of lint in its first line if it needs any.
func TestDocumentationOfDiagnosticsIsUpToDate(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Diagnostics\n\n" + generated + `` +
		"`penstock lint` and every command that reads a spec find all problems at once and print one line for each:\n" +
		"file, line, column, stage, what is wrong, a code and, where there is one, a way out. Lines and columns count from\n" +
		"1, columns in characters. Codes are stable. Where a Go program can make the same mistake, `Pipeline.Build` gives the same code, with the\n" +
		"stage and the field in place of the position.\n")
	shown := map[string]bool{}
	for _, c := range spec.Codes() {
		require.False(t, shown[c.Name], c.Name)
		shown[c.Name] = true
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", c.Name, c.Meaning)
		if c.Name == "schema" {
			continue // a kind's own words; no kind has any that a short spec brings about
		}
		text, out := diagnose(t, c.Name)
		assert.Contains(t, out, "["+c.Name+"]", "the example of %s does not show it", c.Name)
		if text != "" {
			fmt.Fprintf(&b, "\n```yaml\n%s```\n", text)
		}
		fmt.Fprintf(&b, "\n```text\n%s```\n", out)
	}
	same(t, filepath.Join(docs, "diagnostics.md"), b.String())
}

func diagnose(t *testing.T, code string) (text, out string) {
	t.Helper()
	file := filepath.Join("testdata", "diagnostics", code+".yaml")
	b, err := os.ReadFile(file)
	args := []string{"lint", file}
	if err == nil {
		text = string(b)
	} else {
		require.Equal(t, "unreadable", code, err)
	}
	if first, rest, _ := strings.Cut(text, "\n"); strings.HasPrefix(first, "# penstock ") {
		args = strings.Fields(strings.TrimPrefix(first, "# penstock "))
		args = append([]string{args[0], file}, args[2:]...)
		_ = rest
	}
	var stdout, stderr bytes.Buffer
	a := testApp(t, &stdout, &stderr)
	a.main(args)
	return text, strings.ReplaceAll(stdout.String()+stderr.String(), filepath.Join("testdata", "diagnostics")+string(filepath.Separator), "")
}

var codeForm = regexp.MustCompile(`(?:Code: +|(?:add|warn|problem|hint)\([^"\n]*"[^"\n]*", |add\([^"\n]*|warn\([^"\n]*|problem\()"([a-z]+(?:_[a-z]+)+)"`)

func TestEveryCodeInTheSourceIsDocumented(t *testing.T) {
	known := map[string]bool{"other_pipeline": true} // cannot be written in a spec
	for _, c := range spec.Codes() {
		known[c.Name] = true
	}
	for _, dir := range []string{"../../graph/spec", "../../graph/registry", "../../graph"} {
		files, err := filepath.Glob(dir + "/*.go")
		require.NoError(t, err)
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, m := range codeForm.FindAllStringSubmatch(string(text), -1) {
				assert.True(t, known[m[1]], "%s: code %s is not in spec.Codes", f, m[1])
			}
		}
	}
}
