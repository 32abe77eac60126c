package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestNoPackageHoldsState allows package-level variables only if nothing writes
// to them: errors, compiled expressions, tables.
func TestNoPackageHoldsState(t *testing.T) {
	t.Parallel()
	written, err := findState(os.DirFS(filepath.Join("..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range written {
		t.Error(one)
	}
}

// findState returns a sentence for every write to a package-level variable in
// code that is not a test.
func findState(root fs.FS) ([]string, error) {
	packages, files, err := parsePackages(root)
	if err != nil {
		return nil, err
	}
	var written []string
	for _, parsed := range packages {
		globals := packageVariables(parsed)
		for _, file := range parsed {
			finder := stateFinder{globals: globals, files: files}
			ast.Inspect(file, finder.visit)
			written = append(written, finder.found...)
		}
	}
	slices.Sort(written)
	return written, nil
}

func parsePackages(root fs.FS) (map[string][]*ast.File, *token.FileSet, error) {
	packages, files := map[string][]*ast.File{}, token.NewFileSet()
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipped(entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(files, name, text, 0)
		packages[path.Dir(name)] = append(packages[path.Dir(name)], parsed)
		return err
	})
	return packages, files, err
}

// packageVariables returns the package-level variables by name.
func packageVariables(parsed []*ast.File) map[string]*ast.ValueSpec {
	globals := map[string]*ast.ValueSpec{}
	for _, file := range parsed {
		for _, declaration := range file.Decls {
			general, ok := declaration.(*ast.GenDecl)
			if !ok || general.Tok != token.VAR {
				continue
			}
			for _, spec := range general.Specs {
				variable, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for _, name := range variable.Names {
					globals[name.Name] = variable
				}
			}
		}
	}
	return globals
}

// stateFinder finds writes in one file.
type stateFinder struct {
	globals map[string]*ast.ValueSpec
	files   *token.FileSet
	found   []string
}

func (f *stateFinder) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			f.written(n.Lhs...)
		}
	case *ast.IncDecStmt:
		f.written(n.X)
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			f.written(n.Key, n.Value)
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			f.written(n.X)
		}
	case *ast.CallExpr:
		if len(n.Args) > 0 && writesFirst(n.Fun) {
			f.written(n.Args[0])
		}
	case *ast.ValueSpec:
		f.mutable(n)
	}
	return true
}

// writesFirst reports whether the call writes to its first argument.
func writesFirst(called ast.Expr) bool {
	switch fun := called.(type) {
	case *ast.Ident:
		return slices.Contains([]string{"append", "clear", "copy", "delete"}, fun.Name)
	case *ast.SelectorExpr:
		from, ok := fun.X.(*ast.Ident)
		if !ok || !slices.Contains([]string{"slices", "sort", "maps"}, from.Name) {
			return false
		}
		for _, verb := range []string{"Sort", "Slice", "Stable", "Strings", "Ints", "Reverse", "Delete", "Insert", "Compact", "Copy"} {
			if strings.HasPrefix(fun.Sel.Name, verb) && fun.Sel.Name != "Sorted" {
				return true
			}
		}
	}
	return false
}

// mutable finds package-level variables of types that exist only to be
// modified.
func (f *stateFinder) mutable(spec *ast.ValueSpec) {
	for _, name := range spec.Names {
		if f.globals[name.Name] != spec {
			continue
		}
		for _, part := range append([]ast.Expr{spec.Type}, spec.Values...) {
			if held := holder(part); held != "" {
				f.report(name, "holds a "+held)
			}
		}
	}
}

// holder recognizes sync.Mutex, sync.Once, atomic.Int64 and similar types.
// Functions of these packages such as sync.OnceValue return a value that is
// never written.
func holder(expression ast.Expr) string {
	var held string
	if expression == nil {
		return ""
	}
	ast.Inspect(expression, func(node ast.Node) bool {
		if _, ok := node.(*ast.FuncLit); ok {
			return false
		}
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if from, ok := selector.X.(*ast.Ident); ok && (from.Name == "sync" || from.Name == "atomic") && !strings.HasPrefix(selector.Sel.Name, "OnceValue") {
			held = from.Name + "." + selector.Sel.Name
		}
		return true
	})
	return held
}

// written reports the expressions whose root is a package-level variable. A
// name that the parser resolved otherwise is a different variable.
func (f *stateFinder) written(expressions ...ast.Expr) {
	for _, expression := range expressions {
		name := root(expression)
		if name == nil {
			continue
		}
		spec, ok := f.globals[name.Name]
		if ok && (name.Obj == nil || name.Obj.Decl == spec) {
			f.report(name, "is written here or can be")
		}
	}
}

func (f *stateFinder) report(name *ast.Ident, why string) {
	at := f.files.Position(name.Pos())
	f.found = append(f.found, fmt.Sprintf("%s:%d: package variable %s %s", at.Filename, at.Line, name.Name, why))
}

// root reduces indexes, fields, pointers and slices to a name.
func root(expression ast.Expr) *ast.Ident {
	for {
		switch e := expression.(type) {
		case *ast.Ident:
			return e
		case *ast.IndexExpr:
			expression = e.X
		case *ast.SelectorExpr:
			expression = e.X
		case *ast.StarExpr:
			expression = e.X
		case *ast.ParenExpr:
			expression = e.X
		case *ast.SliceExpr:
			expression = e.X
		default:
			return nil
		}
	}
}

func TestFindStateFinds(t *testing.T) {
	t.Parallel()
	const written = "x/x.go:2: package variable table is written here or can be"
	tests := []struct {
		name, body string
		want       []string
	}{
		{"read", `func f() int { return table["a"] }`, nil},
		{"assigned", `func f() { table = nil }`, []string{written}},
		{"an entry", `func f() { table["a"] = 1 }`, []string{written}},
		{"counted", `func f() { table["a"]++ }`, []string{written}},
		{"address taken", `func f() any { return &table }`, []string{written}},
		{"deleted", `func f() { delete(table, "a") }`, []string{written}},
		{"sorted in place", `func f() { slices.Sort(table) }`, []string{written}},
		{"sorted into another", `func f() { slices.Sorted(table) }`, nil},
		{"a range writes it", `func f() { for table["a"] = range 3 {} }`, []string{written}},
		{"a local of the same name", `func f() { table := 1; table++; _ = table }`, nil},
		{"a parameter of the same name", `func f(table []int) { table[0] = 1 }`, nil},
		{"a field of the same name", `func f(s struct{ table int }) { s.table = 1 }`, nil},
		{"a mutex", `var lock sync.Mutex`, []string{"x/x.go:2: package variable lock holds a sync.Mutex"}},
		{"a counter", `var n = new(atomic.Int64)`, []string{"x/x.go:2: package variable n holds a atomic.Int64"}},
		{"computed once", `var v = sync.OnceValue(func() int { return 1 })`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := findState(fstest.MapFS{
				"x/x.go":      {Data: []byte("package x\n" + test.body)},
				"x/table.go":  {Data: []byte("package x\nvar table = map[string]int{}")},
				"x/x_test.go": {Data: []byte("package x\nfunc g() { table = nil }")},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}
