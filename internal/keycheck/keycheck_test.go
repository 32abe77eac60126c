package keycheck

import (
	"go/ast"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// files are the two config files: the package and the types of each as it is written and loaded.
var files = []struct{ pkg, written, loaded string }{
	{module + "internal/config", "rawConfig", "Config"},
	{module + "internal/config/server", "rawServer", "Config"},
}

// exceptions are fields that nothing reads, and why.
var exceptions = map[string]string{
	"config.Config.File": "it is no key: the file with its defaults is printed with this name in errors",
}

// loading are the functions whose reads prove nothing: they make or print what is loaded.
var loading = []string{"Load", "Resolved"}

// Each key is read when its file is loaded, not only where it is, and each field of what is loaded is
// read by what uses it: outside of the config packages, or by what they offer besides loading.
func TestEachKeyIsRead(t *testing.T) {
	t.Parallel()
	p := newProgram(filepath.Join("..", ".."))
	if err := p.load("internal", "cmd"); err != nil {
		t.Fatal(err)
	}
	unused := p.unread()
	for name := range unused {
		if exceptions[name] == "" {
			t.Errorf("nothing reads %s: use it, or remove it", name)
		}
	}
	for name, why := range exceptions {
		if !unused[name] || why == "" {
			t.Errorf("the exception %s is not needed, or has no reason", name)
		}
	}
}

// A key is not read by what only validates it, or only looks where it is written. A loaded field is not
// read by loading alone.
func TestEachKeyIsRead_findsDeadKeys(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"internal/config/config.go": `package config
type Place struct{ Line int }
type Text struct{ Place; Value string }
type Reserved struct{}
type rawConfig struct {
	Read Text ` + "`yaml:\"read\"`" + `
	Placed Text ` + "`yaml:\"placed\"`" + `
	Below []*rawBelow ` + "`yaml:\"below\"`" + `
}
type rawBelow struct { Dead Text ` + "`yaml:\"dead\"`" + ` }
type Config struct { Read, Dead, Method, Loaded string }
func (t Text) IsSet() bool { return t.Line > 0 }
func Load(raw rawConfig) *Config {
	c := &Config{Read: raw.Read.Value}
	if raw.Placed.IsSet() && len(raw.Below) > 0 { c.Loaded = "" }
	return checked(c)
}
func checked(c *Config) *Config { if c.Loaded == "" { return nil }; return c }
func (c *Config) Offered() bool { return c.Method != "" }
`,
		"internal/config/server/server.go": "package serverconfig\ntype rawServer struct{}\ntype Config struct{}\n",
		"internal/use/use.go": `package use
import "promoter/internal/config"
func Use(c *config.Config) bool { c = config.Load(nil); c.Dead = ""; return c.Read != "" && c.Offered() }
`,
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := newProgram(root)
	if err := p.load("internal"); err != nil {
		t.Fatal(err)
	}
	want := []string{"config.Config.Dead", "config.Config.Loaded", "config.rawBelow.Dead", "config.rawConfig.Placed"}
	if got := slices.Sorted(maps.Keys(p.unread())); !slices.Equal(got, want) {
		t.Errorf("dead: %v, want %v", got, want)
	}
}

// unread returns the keys and fields that nothing reads.
func (p *program) unread() map[string]bool {
	read, unused := p.reads(), map[string]bool{}
	exported := func(v *types.Var, _ string) bool { return v.Exported() }
	for _, file := range files {
		scope := p.packages[file.pkg].pkg.Scope()
		for name, field := range fieldsOf(scope.Lookup(file.written).Type(), isKey) {
			unused[name] = !read.loading[field]
		}
		for name, field := range fieldsOf(scope.Lookup(file.loaded).Type(), exported) {
			unused[name] = !read.using[field]
		}
	}
	maps.DeleteFunc(unused, func(_ string, unread bool) bool { return !unread })
	return unused
}

// isKey reports whether a field is a key that has an effect.
func isKey(v *types.Var, tag string) bool {
	key, tagged := reflect.StructTag(tag).Lookup("yaml")
	return tagged && key != "x-*" && !strings.HasSuffix(v.Type().String(), "strictyaml.Reserved")
}

// fieldsOf returns the selected fields of a struct type, and of all struct types of the config packages below
// it, by PACKAGE.TYPE.FIELD.
func fieldsOf(of types.Type, selected func(v *types.Var, tag string) bool) map[string]*types.Var {
	found, seen := map[string]*types.Var{}, map[types.Type]bool{}
	var visit func(types.Type)
	visit = func(of types.Type) {
		if seen[of] {
			return
		}
		seen[of] = true
		switch of := of.(type) {
		case *types.Pointer:
			visit(of.Elem())
		case *types.Slice:
			visit(of.Elem())
		case *types.Map:
			visit(of.Elem())
		case *types.Alias:
			visit(types.Unalias(of))
		case *types.Named:
			for argument := range of.TypeArgs().Types() {
				visit(argument)
			}
			fields, isStruct := of.Underlying().(*types.Struct)
			if !isStruct || of.Obj().Pkg() == nil {
				return
			}
			inConfig := isConfig(of.Obj().Pkg().Path())
			for i := range fields.NumFields() {
				field := fields.Field(i)
				switch {
				case inConfig && field.Embedded():
					visit(field.Type())
				case inConfig && selected(field, fields.Tag(i)):
					found[of.Obj().Pkg().Name()+"."+of.Obj().Name()+"."+field.Name()] = field
					visit(field.Type())
				}
			}
		}
	}
	visit(of)
	return found
}

func isConfig(pkg string) bool { return strings.HasPrefix(pkg+"/", module+"internal/config/") }

// reads are the fields that are read.
type reads struct {
	loading map[*types.Var]bool // by the config packages
	using   map[*types.Var]bool // by others, or by what these call
}

// function is what one function of the config packages selects and refers to.
type function struct {
	fields []*types.Var
	uses   []types.Object
}

// reads returns what the program reads. A field on the left of an assignment is not read.
func (p *program) reads() reads {
	all := reads{loading: map[*types.Var]bool{}, using: map[*types.Var]bool{}}
	functions := map[types.Object]*function{} // of the config packages
	var called []types.Object                 // by others
	for name, c := range p.packages {
		for _, file := range c.files {
			for _, declaration := range file.Decls {
				of := readBy(c.info, declaration)
				if !isConfig(name) {
					for _, field := range of.fields {
						all.using[field] = true
					}
					called = append(called, of.uses...)
					continue
				}
				for _, field := range of.fields {
					all.loading[field] = true
				}
				for _, defined := range defines(c.info, declaration) {
					functions[defined] = of
				}
			}
		}
	}
	seen := map[types.Object]bool{}
	for len(called) > 0 {
		one := called[0]
		called = called[1:]
		of := functions[one]
		if of == nil || seen[one] || slices.Contains(loading, one.Name()) {
			continue
		}
		seen[one] = true
		for _, field := range of.fields {
			all.using[field] = true
		}
		called = append(called, of.uses...)
	}
	return all
}

// defines returns the functions and variables of a declaration.
func defines(info *types.Info, declaration ast.Decl) (defined []types.Object) {
	switch declaration := declaration.(type) {
	case *ast.FuncDecl:
		defined = append(defined, info.Defs[declaration.Name])
	case *ast.GenDecl:
		for _, spec := range declaration.Specs {
			if values, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range values.Names {
					defined = append(defined, info.Defs[name])
				}
			}
		}
	}
	return defined
}

// places are what of a value is only about where, and whether, it is written.
var places = []string{"Position", "Origin", "Invalid", "IsSet", "Valid", "IsEmpty", "HasUnknownKey"}

// readBy returns what a declaration reads. Where only the place of a key is used, the key is not read.
func readBy(info *types.Info, declaration ast.Decl) *function {
	of := &function{}
	ignored := map[ast.Expr]bool{}
	ast.Inspect(declaration, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				ignored[left] = true
			}
		case *ast.SelectorExpr:
			if slices.Contains(places, n.Sel.Name) {
				ignored[n.X] = true
			}
			selection := info.Selections[n]
			if selection == nil {
				break
			}
			if field, isField := selection.Obj().(*types.Var); isField && !ignored[n] {
				of.fields = append(of.fields, field.Origin())
			}
		case *ast.Ident:
			if used := info.Uses[n]; used != nil {
				if f, isFunction := used.(*types.Func); isFunction {
					used = f.Origin()
				}
				of.uses = append(of.uses, used)
			}
		}
		return true
	})
	return of
}
