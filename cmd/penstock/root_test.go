package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRootKeepsASpecFromReadingElsewhere(t *testing.T) {
	top := t.TempDir()
	put := func(name, text string) string {
		file := filepath.Join(top, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return file
	}
	put("in/data/a", "x")
	put("in/data/b", "x")
	secret := put("secret/keys", "a\n")
	link := filepath.Join(top, "in", "link")
	if err := os.Symlink("../secret", link); err != nil {
		t.Skip(err)
	}
	spec := put("in/x.yaml", `pipeline: x
stages:
  - {id: read, folder: {root: data}}
  - {id: end, discard: {}}
`)
	root := filepath.Join(top, "in")
	r := penstock(t, "run", spec, "--root", root)
	require.Equal(t, exitDone, r.code, r.err)
	assert.Contains(t, r.out, "2 samples")
	for set, want := range map[string]string{
		"read.root=" + filepath.Dir(secret):                  "root: ",
		"read.root=" + link:                                  "root: ",
		"read.root=" + root + "/data/../data":                "",
		"read.root=/proc/self/cwd/../../..":                  "root: ",
		"read.exclude=" + secret:                             "exclude: ",
		"read.exclude=" + link + "/keys":                     "exclude: ",
		"read.sampler={weighted: {weights: " + secret + "}}": "sampler weighted: weights: ",
		"read.sampler={subset: {file: " + secret + "}}":      "sampler subset: file: ",
		"read.root=" + root + "/../secret":                   "root: ",
	} {
		r := penstock(t, "run", spec, "--root", root, "--set", set)
		if want == "" {
			assert.Equal(t, exitDone, r.code, "%s: %s", set, r.err)
			continue
		}
		assert.Equal(t, exitUsage, r.code, set)
		assert.Contains(t, r.err, want, set)
		assert.Contains(t, r.err, "[outside_root]", set)
		assert.Empty(t, r.out)
		r = penstock(t, "inspect", spec, "--at", "read", "--root", root, "--set", set)
		assert.Contains(t, r.err, "[outside_root]", set)
	}
	r = penstock(t, "run", spec, "--root", filepath.Join(top, "none"))
	assert.Equal(t, exitUsage, r.code)
	r = penstock(t, "run", spec, "--root", secret)
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "is no folder")
}

func TestReportsHoldTheSpecAsItIsWritten(t *testing.T) {
	t.Setenv("PENSTOCK_TEST_SECRET", "hunter2")
	t.Setenv("PENSTOCK_TEST_COUNT", "12345")
	file := write(t, "x.yaml", `pipeline: x
stages:
  - {id: read, range: {count: "${PENSTOCK_TEST_COUNT}"}}
  - {id: end, discard: {}}
`)
	dir := t.TempDir()
	js, md, txt := filepath.Join(dir, "a.json"), filepath.Join(dir, "a.md"), filepath.Join(dir, "a.txt")
	r := penstock(t, "run", file, "--report", js, "--report", md, "--report", txt)
	require.Equal(t, exitDone, r.code, r.err)
	for _, f := range []string{js, md, txt} {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		assert.NotContains(t, string(b), "hunter2")
		if f == js {
			assert.Contains(t, string(b), `count: \"${PENSTOCK_TEST_COUNT}\"`)
			assert.NotContains(t, string(b), `count: \"12345`)
		}
	}
}
