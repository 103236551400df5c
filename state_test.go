package penstock_test

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// shared is what the check of package-level variables knows of one package.
type shared map[string]*ast.Ident

// TestPackagesKeepNoState holds package-level variables to what they may be: kind sets, errors, and tables that nobody
// changes. Programs are held to it as well, generators and benchmarks are not.
func TestPackagesKeepNoState(t *testing.T) {
	files := map[string][]*source{}
	for _, s := range readModule(t) {
		if !s.test && !within(s.dir, "bench") && !strings.HasSuffix(s.dir, "/gen") {
			files[s.dir] = append(files[s.dir], s)
		}
	}
	used := map[string]bool{}
	for _, list := range files {
		vars := shared{}
		for _, s := range list {
			vars.declare(t, s, used)
		}
		for _, s := range list {
			vars.find(t, s, used)
		}
	}
	for name := range variables {
		assert.True(t, used[name], "%s is listed as a variable and is none", name)
	}
}

// declare notes the variables of a file and looks at what they are.
func (v shared) declare(t *testing.T, s *source, used map[string]bool) {
	for _, d := range s.ast.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			val := spec.(*ast.ValueSpec)
			for i, name := range val.Names {
				if name.Name == "_" {
					continue
				}
				v[name.Name] = name
				var init ast.Expr
				if i < len(val.Values) {
					init = val.Values[i]
				}
				why := ""
				switch {
				case isKindSet(val, name.Name), isSentinel(name.Name, init):
				case changes(val.Type, init):
					why = "holds state"
				case ast.IsExported(name.Name):
					why = "can be changed by every importer"
				}
				if _, ok := variables[s.dir+"."+name.Name]; ok && why != "" {
					used[s.dir+"."+name.Name] = true
				} else if why != "" {
					assert.Fail(t, "a variable", "%s: %s %s; pass it, or list it in lint_test.go with its reason", s.at(name), name.Name, why)
				}
			}
		}
	}
}

// isKindSet is `var kinds registry.Set`.
func isKindSet(v *ast.ValueSpec, name string) bool {
	sel, ok := v.Type.(*ast.SelectorExpr)
	return ok && name == "kinds" && sel.Sel.Name == "Set"
}

// isSentinel is `ErrX = errors.New(...)`.
func isSentinel(name string, init ast.Expr) bool {
	c, ok := init.(*ast.CallExpr)
	if !ok || !strings.HasPrefix(strings.ToLower(name), "err") {
		return false
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "New"
}

// changes says that a type or value is made to be changed: something of sync, a channel, an empty map or slice.
func changes(parts ...ast.Node) bool {
	found := false
	for _, p := range parts {
		if p == nil || p == ast.Expr(nil) {
			continue
		}
		ast.Inspect(p, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false // a table that a function fills at the start
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				found = found || ok && (x.Name == "sync" || x.Name == "atomic" || x.Name == "registry" && n.Sel.Name == "Set")
			case *ast.ChanType:
				found = true
			case *ast.CallExpr:
				f, ok := n.Fun.(*ast.Ident)
				found = found || ok && (f.Name == "make" || f.Name == "new")
			}
			return true
		})
	}
	return found
}

// find looks for statements that change a variable of the package.
func (v shared) find(t *testing.T, s *source, used map[string]bool) {
	bad := func(e ast.Expr) {
		id := root(e)
		if id == nil {
			return
		}
		decl, ok := v[id.Name]
		if !ok || id.Obj != nil && id.Obj.Pos() != decl.Pos() { // a local variable of the same name
			return
		}
		if _, ok := variables[s.dir+"."+id.Name]; ok {
			used[s.dir+"."+id.Name] = true
			return
		}
		assert.Fail(t, "a variable", "%s: changes %s, which all users of the package share", s.at(e), id.Name)
	}
	for _, d := range s.ast.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, l := range n.Lhs {
						bad(l)
					}
				}
			case *ast.IncDecStmt:
				bad(n.X)
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "delete" || f.Name == "clear") && len(n.Args) > 0 {
					bad(n.Args[0])
				}
			}
			return true
		})
	}
}

// root is the variable that an assignment changes: x of x.f[i].
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}
