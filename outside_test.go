package penstock_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small is a program that reads a folder and uses nothing else.
const small = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/penstock-go/penstock/graph"
	"github.com/penstock-go/penstock/sources"
)

func main() {
	p := graph.New("files")
	out := graph.Output(graph.From(p, "read", sources.Folder{Root: os.Args[1]}), "take")
	run, err := p.Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for s, err := range out.All(run) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(s.Key())
	}
}
`

// newModule makes a folder that is a module of its own and uses this one by a replace line, as a reader would who
// copies an example out of the repository.
func newModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := os.Getwd()
	require.NoError(t, err)
	text := "module example\n\ngo 1.26.0\n\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + root + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644))
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644))
	return dir
}

// build builds the program in dir, without a network, as go build does by default, and gives its size.
func build(t *testing.T, dir, pkg string) int64 {
	t.Helper()
	out := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command("go", "build", "-o", out, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOSUMDB=off")
	if dir != "." {
		cmd.Env = append(cmd.Env, "GOFLAGS=-mod=mod") // its go.mod does not list what this module requires
	}
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", text)
	st, err := os.Stat(out)
	require.NoError(t, err)
	return st.Size()
}

func TestExamplesBuildOutsideTheRepository(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the compiler")
	}
	mains, err := filepath.Glob("examples/*/main.go")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(mains), 3)
	for _, main := range mains {
		t.Run(filepath.Base(filepath.Dir(main)), func(t *testing.T) {
			dir := newModule(t)
			files, err := filepath.Glob(filepath.Join(filepath.Dir(main), "*.go"))
			require.NoError(t, err)
			for _, f := range files {
				if strings.HasSuffix(f, "_test.go") {
					continue
				}
				text, err := os.ReadFile(f)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(f)), text, 0o644))
			}
			build(t, dir, ".")
		})
	}
}

// The sizes are those of plain go build, symbols and debug information included.
func TestProgramsStayLight(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the compiler")
	}
	const mb = 1_000_000
	dir := newModule(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(small), 0o644))
	folder, runner := build(t, dir, "."), build(t, ".", "./cmd/penstock")
	t.Logf("a program that reads a folder: %.1f MB; the runner: %.1f MB", float64(folder)/mb, float64(runner)/mb)
	assert.Less(t, folder, int64(5*mb), "a program that only reads a folder; what has it begun to import?")
	assert.Less(t, runner, int64(60*mb), "the runner")
}

// The runner starts where there is no driver, and with the tag nocuda it needs no loader either: an image of it alone
// runs. With the tag gorgonia, which needs cgo, it starts as well: PENSTOCK_GORGONIA=1 builds that too, which takes a while.
func TestTheRunnerStartsWithoutADriver(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the compiler")
	}
	if runtime.GOOS != "linux" {
		t.Skip("looks into ELF files")
	}
	root, err := os.Getwd()
	require.NoError(t, err)
	for _, c := range []struct {
		tags, first string
		env         []string
	}{
		{"", "driver", []string{"CGO_ENABLED=0"}},
		{"nocuda", "driver", []string{"CGO_ENABLED=0"}},
		{"gorgonia", "gorgonia", []string{"CGO_ENABLED=1", "CGO_CFLAGS=-I" + filepath.Join(root, "cuda/gorgonia/include")}},
	} {
		t.Run("tags "+c.tags, func(t *testing.T) {
			if c.tags == "gorgonia" && os.Getenv("PENSTOCK_GORGONIA") == "" {
				t.Skip("PENSTOCK_GORGONIA is not set")
			}
			program := filepath.Join(t.TempDir(), "penstock")
			cmd := exec.Command("go", "build", "-tags", c.tags, "-o", program, "./cmd/penstock")
			cmd.Env = append(os.Environ(), c.env...)
			text, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", text)
			needsNoDriver(t, program, c.tags == "nocuda")
			startsWithoutADriver(t, program, c.first)
		})
	}
}

// needsNoDriver looks for what the system's loader would want.
func needsNoDriver(t *testing.T, program string, static bool) {
	t.Helper()
	f, err := elf.Open(program)
	require.NoError(t, err)
	defer f.Close()
	libs, err := f.ImportedLibraries()
	require.NoError(t, err)
	for _, lib := range libs {
		assert.NotContains(t, lib, "cuda")
		assert.NotContains(t, lib, "nvidia")
	}
	if static {
		assert.Empty(t, libs)
		assert.Nil(t, f.Section(".interp"), "it needs a loader")
	}
}

func startsWithoutADriver(t *testing.T, program, backend string) {
	t.Helper()
	run := func(args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "PENSTOCK_LIBCUDA=/nowhere/libcuda.so.1")
		text, err := cmd.CombinedOutput()
		return string(text), err
	}
	spec := filepath.Join(t.TempDir(), "x.yaml")
	require.NoError(t, os.WriteFile(spec, []byte("pipeline: x\nstages:\n  - {id: read, range: {count: 10}}\n"+
		"  - {id: batch, collate: {size: 5}}\n  - {id: copy, device_copy: {device: \"cuda:0\"}}\n  - {id: end, discard: {}}\n"), 0o644))
	text, err := run("run", spec)
	require.Error(t, err)
	assert.Contains(t, text, `device "cuda:0" cannot be opened: `+backend+": no CUDA driver library")
	assert.Contains(t, text, "driver: no CUDA driver library")
	text, err = run("doctor", "--device")
	require.NoError(t, err, text)
	assert.Contains(t, text, "no device could be opened: ")
	text, err = run("doctor")
	require.NoError(t, err, text)
	text, err = run("run", "examples/quickstart/pipeline.yaml")
	require.NoError(t, err, text)
}
