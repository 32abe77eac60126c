package keycheck

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const module = "promoter/"

// program is the packages of the module, type-checked from their source without tests. All other
// packages are empty, which is fast: what is not known there is no error.
type program struct {
	root     string
	files    *token.FileSet
	packages map[string]*checked // by import path
}

// checked is one package.
type checked struct {
	pkg   *types.Package
	files []*ast.File
	info  *types.Info
}

func newProgram(root string) *program {
	return &program{root: root, files: token.NewFileSet(), packages: map[string]*checked{}}
}

// load type-checks all packages below the folders, except those for tests.
func (p *program) load(folders ...string) error {
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(p.root, folder), func(dir string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil || !entry.IsDir():
				return err
			case entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), "_") || strings.HasSuffix(entry.Name(), "test"):
				return filepath.SkipDir
			}
			relative, err := filepath.Rel(p.root, dir)
			if err != nil {
				return err
			}
			_, err = p.Import(module + filepath.ToSlash(relative))
			return err
		})
		if err != nil {
			return fmt.Errorf("load %s: %w", folder, err)
		}
	}
	return nil
}

// Import implements types.Importer.
func (p *program) Import(name string) (*types.Package, error) {
	if !strings.HasPrefix(name, module) {
		other := types.NewPackage(name, path.Base(name))
		other.MarkComplete()
		return other, nil
	}
	c, err := p.check(name)
	if err != nil {
		return nil, err
	}
	return c.pkg, nil
}

func (p *program) check(name string) (*checked, error) {
	if known := p.packages[name]; known != nil {
		return known, nil
	}
	c := &checked{info: &types.Info{
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
	}}
	dir := filepath.Join(p.root, filepath.FromSlash(strings.TrimPrefix(name, module)))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		if matches, err := build.Default.MatchFile(dir, entry.Name()); err != nil || !matches {
			continue
		}
		file, err := parser.ParseFile(p.files, filepath.Join(dir, entry.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, file)
	}
	ignored := types.Config{Importer: p, Error: func(error) {}, FakeImportC: true}
	c.pkg, _ = ignored.Check(name, p.files, c.files, c.info) // other modules are not known
	p.packages[name] = c
	return c, nil
}
