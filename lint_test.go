package penstock_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/penstock-go/penstock"

// The words of [room].
const (
	anything = "*"
	internal = "graph/internal/"
)

// room is a folder of the module, with everything below it that is not a room of its own, and what it may import beside
// the standard library and itself. A name that ends in a slash stands for all below it. docs/architecture.md has the
// same table, with the reasons.
type room struct {
	dir string
	may []string
}

var part = []string{"graph", "graph/item", "graph/registry", "shard", "github.com/klauspost/compress/", "golang.org/x/image/"}

var rooms = []room{
	{"graph", []string{internal, "graph/item", "shard"}},
	{"graph/item", []string{"github.com/cespare/xxhash/v2"}},
	{"graph/internal", []string{internal}},
	{"graph/registry", []string{"graph", "graph/item"}},
	{"graph/spec", []string{"graph", "graph/item", "graph/registry", "go.yaml.in/yaml/v4"}},
	{"graph/report", []string{"graph"}},
	{"graph/tune", []string{"graph", "graph/report"}},
	{"graph/graphtest", []string{"graph", "graph/item", "graph/registry", "graph/report", "github.com/stretchr/testify/", "github.com/cespare/xxhash/v2"}},
	{"sources", part},
	{"stages", append([]string{"stages/jpeg", "stages/resize"}, part...)},
	{"stages/jpeg", nil},
	{"stages/resize", nil},
	{"sinks", part},
	{"cache", part},
	{"shard", nil},
	{"cuda", []string{"graph", "graph/item", "graph/registry"}},
	{"cuda/driver", []string{"cuda", "cuda/internal/host", "cuda/internal/nvml", "github.com/ebitengine/purego"}},
	{"cuda/gorgonia", []string{"cuda", "cuda/internal/host", "cuda/internal/nvml", "gorgonia.org/cu"}},
	{"cuda/dlpack", []string{"cuda", "graph/item", "github.com/ebitengine/purego"}},
	{"cuda/internal", nil},
	{"cuda/internal/nvml", []string{"cuda", "github.com/ebitengine/purego"}},
	{"cuda/devicetest", []string{"cuda", "graph", "graph/item", "github.com/stretchr/testify/"}},
	{"cuda/devicetest/standin", []string{"cuda", "cuda/devicetest", "cuda/internal/host", "graph", "graph/item",
		"github.com/ebitengine/purego", "github.com/stretchr/testify/"}},
	{"cmd", []string{anything}},
	{"examples", []string{anything}},
	{"bench", []string{anything}},
}

// What tests may import in addition. Those of the parts do not import other parts either: what takes several is tested
// in examples and cmd.
var forTests = []string{"github.com/stretchr/testify/", "graph", "graph/item", "graph/graphtest", "graph/report", "cuda/devicetest", "cuda/devicetest/standin", "cuda/driver"}

// Programs may do what a library must not: print, and start goroutines. Those in bench and the generators of code are
// not part of what a user builds.
func isProgram(dir string) bool {
	return within(dir, "cmd") || within(dir, "examples") || within(dir, "bench") || path.Base(dir) == "gen"
}

// Where goroutines start: in the engine, in programs, and in a suite that only tests run.
func startsGoroutines(dir string) bool {
	return dir == "graph/internal/engine" || dir == "cuda/devicetest" || isProgram(dir)
}

// Files that may use a timer: the engine where time itself is what is waited for, and kinds that are there to wait.
var timers = map[string]string{
	"graph/internal/edge/waiter.go": "the flag of a starving consumer is raised by a timer",
	"graph/internal/engine/run.go":  "the back-off between two tries",
	"graph/timeout.go":              "the grace of a call that has run out of time",
	"sources/slow.go":               "models a slow store",
	"cuda/emulated.go":              "models a device's time",
	"stages/delay.go":               "a planted slow stage",
	"sinks/accelerator.go":          "models a training step",
}

// sleeping is the one file of those that calls time.Sleep, for delays that are too short to be cut.
const sleeping = "sources/slow.go"

// Package-level variables that change, or whose type lets others change them.
var variables = map[string]string{
	"graph/item.samples":          "recycled samples, a sync.Pool",
	"graph/item.Heap":             "the memory of tests: a value without state",
	"graph/internal/edge.exts":    "recycled rare parts of items, a sync.Pool",
	"graph/registry.PipelineKeys": "an array of words, read by graph/spec",
	"graph/registry.StageKeys":    "an array of words, read by graph/spec",
}

// source is one Go file of the module.
type source struct {
	file, dir string // slash paths from the root
	test      bool
	lines     int
	ast       *ast.File
	fset      *token.FileSet
}

func (s *source) at(n ast.Node) string { return s.fset.Position(n.Pos()).String() }

func within(dir, room string) bool { return dir == room || strings.HasPrefix(dir, room+"/") }

// readModule parses every Go file, whatever its build tags.
func readModule(t *testing.T) []*source {
	t.Helper()
	var all []*source
	fset := token.NewFileSet()
	require.NoError(t, filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && file != "." {
			_, other := os.Stat(filepath.Join(file, "go.mod"))
			if name == "testdata" || name[0] == '.' || name[0] == '_' || other == nil {
				return fs.SkipDir
			}
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, filepath.ToSlash(file), text, parser.ParseComments)
		if err != nil {
			return err
		}
		slash := filepath.ToSlash(file)
		dir := path.Dir(slash)
		if dir == "." {
			dir = ""
		}
		all = append(all, &source{slash, dir, strings.HasSuffix(name, "_test.go"), strings.Count(string(text), "\n"), f, fset})
		return nil
	}))
	require.Greater(t, len(all), 100, "the module was not found")
	return all
}

// roomOf is the innermost room that a folder lies in.
func roomOf(dir string) (room, bool) {
	best, found := room{may: []string{anything}}, dir == "" // the root holds only tests
	for _, r := range rooms {
		if within(dir, r.dir) && len(r.dir) > len(best.dir) {
			best, found = r, true
		}
	}
	return best, found
}

func standard(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return !strings.Contains(first, ".")
}

func matches(imp, pattern string) bool {
	if strings.HasSuffix(pattern, "/") {
		return strings.HasPrefix(imp, pattern)
	}
	return imp == pattern
}

// allowed says whether a file of room r may import imp.
func allowed(r room, imp string, test bool) bool {
	inner := strings.TrimPrefix(imp, module+"/")
	if standard(imp) {
		return true
	}
	if inner != imp {
		if other, ok := roomOf(inner); ok && other.dir == r.dir {
			return true
		}
	}
	may := r.may
	if test {
		may = slices.Concat(may, forTests)
	}
	return slices.ContainsFunc(may, func(p string) bool { return p == anything || matches(inner, p) })
}

func TestRoomsImportOnlyWhatTheyMay(t *testing.T) {
	for _, s := range readModule(t) {
		r, ok := roomOf(s.dir)
		if !assert.True(t, ok, "%s is in no room: add the folder to the table of this test and of docs/architecture.md", s.file) {
			continue
		}
		for _, spec := range s.ast.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			assert.True(t, allowed(r, imp, s.test), "%s: %q must not import %q", s.at(spec), r.dir, imp)
		}
	}
}

func TestTheRulesOfImportsCatchWhatTheyForbid(t *testing.T) {
	for _, c := range []struct {
		dir, imp string
		test, ok bool
	}{
		{"sources", "github.com/penstock-go/penstock/stages", false, false},
		{"stages", "github.com/penstock-go/penstock/cache", false, false},
		{"sinks/files", "github.com/penstock-go/penstock/sources", false, false},
		{"sources", "github.com/penstock-go/penstock/graph/internal/edge", false, false},
		{"sources", "github.com/penstock-go/penstock/graph/report", false, false},
		{"stages", "github.com/penstock-go/penstock/stages/jpeg", false, true},
		{"stages/jpeg", "github.com/penstock-go/penstock/graph", false, false},
		{"stages", "github.com/klauspost/compress/zstd", false, true},
		{"stages", "github.com/klauspost/other", false, false},
		{"graph", "github.com/penstock-go/penstock/graph/registry", false, false},
		{"graph", "github.com/penstock-go/penstock/graph/internal/edge", false, true},
		{"graph/internal/pool", "github.com/penstock-go/penstock/graph/internal/meter", false, true},
		{"graph/internal/pool", "github.com/penstock-go/penstock/graph/item", false, false},
		{"sources", "github.com/penstock-go/penstock/stages", true, false},
		{"graph/item", "github.com/penstock-go/penstock/graph", false, false},
		{"graph/registry", "go.yaml.in/yaml/v4", false, false},
		{"graph/report", "github.com/stretchr/testify/assert", false, false},
		{"graph/report", "github.com/stretchr/testify/assert", true, true},
		{"shard", "net/http", false, true},
		{"cmd/penstock", "github.com/penstock-go/penstock/sinks", false, true},
	} {
		r, ok := roomOf(c.dir)
		require.True(t, ok)
		assert.Equal(t, c.ok, allowed(r, c.imp, c.test), "%s imports %s", c.dir, c.imp)
	}
	_, ok := roomOf("utils")
	assert.False(t, ok)
}

func TestGoroutinesStartOnlyInTheEngine(t *testing.T) {
	for _, s := range readModule(t) {
		if s.test || startsGoroutines(s.dir) {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				assert.Fail(t, "a goroutine", "%s: goroutines start in graph/internal/engine; a part asks for one with env.Go", s.at(n))
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && startsOne(s, f) {
					assert.Fail(t, "a goroutine", "%s: this call starts one; they start in graph/internal/engine", s.at(n))
				}
			}
			return true
		})
	}
}

// startsOne says that a call is of a function that starts a goroutine: sync.WaitGroup.Go and the like, except when the
// engine is asked for it.
func startsOne(s *source, f *ast.SelectorExpr) bool {
	if f.Sel.Name == "AfterFunc" {
		return true
	}
	if f.Sel.Name != "Go" {
		return false
	}
	name := ""
	switch x := f.X.(type) {
	case *ast.Ident:
		name = x.Name
	case *ast.SelectorExpr:
		name = x.Sel.Name
	}
	return name != "env" && (name != "eng" || s.dir != "graph")
}

func TestNothingSleepsAndNothingPolls(t *testing.T) {
	clocks := []string{"Sleep", "After", "Tick", "NewTimer", "NewTicker"}
	used := map[string]bool{}
	eachCall(t, func(s *source, pkg, name string, n ast.Node) {
		if pkg != "time" || !slices.Contains(clocks, name) || isProgram(s.dir) {
			return
		}
		if _, ok := timers[s.file]; ok && (name == "NewTimer" || name == "Sleep" && s.file == sleeping) {
			used[s.file] = true
			return
		}
		assert.Fail(t, "a timer", "%s: time.%s; wait for what happens instead, or list the file in this test with its reason", s.at(n), name)
	})
	for file := range timers {
		assert.True(t, used[file], "%s is listed as using a timer and does not", file)
	}
}

func TestLibrariesDoNotPrintAndDoNotExit(t *testing.T) {
	eachCall(t, func(s *source, pkg, name string, n ast.Node) {
		switch {
		case isProgram(s.dir):
		case pkg == "fmt" && strings.HasPrefix(name, "Print"), pkg == "os" && name == "Exit", pkg == "log":
			assert.Fail(t, "output", "%s: %s.%s belongs into a program", s.at(n), pkg, name)
		}
	})
}

// eachCall visits the calls of functions of packages, outside tests.
func eachCall(t *testing.T, f func(s *source, pkg, name string, n ast.Node)) {
	t.Helper()
	for _, s := range readModule(t) {
		if s.test {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				if sel, ok := c.Fun.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && x.Obj == nil { // a package, not a variable
						f(s, x.Name, sel.Sel.Name, n)
					}
				}
			}
			return true
		})
	}
}

func TestEveryPackageHasADocFile(t *testing.T) {
	doc, lib := map[string]string{}, map[string]bool{}
	for _, s := range readModule(t) {
		if s.test {
			continue
		}
		lib[s.dir] = s.ast.Name.Name != "main"
		if s.ast.Doc == nil {
			continue
		}
		if lib[s.dir] {
			assert.Equal(t, "doc.go", path.Base(s.file), "%s: the comment of package %s belongs into doc.go", s.file, s.ast.Name.Name)
		}
		assert.Empty(t, doc[s.dir], "%s: a second comment of the package", s.file)
		doc[s.dir] = s.ast.Doc.Text()
	}
	for dir, library := range lib {
		if !assert.NotEmpty(t, doc[dir], "package %q has no comment", dir) || !library {
			continue
		}
		assert.Contains(t, doc[dir], "\n\t", "%s/doc.go shows no example", dir)
	}
}

func TestFilesStayShort(t *testing.T) {
	const most = 500
	for _, s := range readModule(t) {
		if !s.test && !ast.IsGenerated(s.ast) {
			assert.LessOrEqual(t, s.lines, most, "%s: two things in one?", s.file)
		}
	}
}
