package layers

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// rules are the import rules for a tree.
type rules struct {
	table  map[string]place
	owners map[string][]string
	free   map[string]bool
}

// source is one Go file and what it imports.
type source struct {
	file    string // slash-separated, from the root of the module
	imports []string
}

func (s source) pkg() string  { return path.Dir(s.file) }
func (s source) isTest() bool { return strings.HasSuffix(s.file, "_test.go") }

// readSources parses the imports of every Go file below the root, whatever its
// build constraints say. It reads the files itself instead of asking the go
// command, whose answer the test cache does not see change.
func readSources(root fs.FS) ([]source, error) {
	var found []source
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipped(entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		one, err := readSource(root, name)
		found = append(found, one)
		return err
	})
	return found, err
}

// skipped tells the folders that the go command leaves out as well.
func skipped(folder string) bool {
	return folder == "testdata" || folder == "vendor" ||
		len(folder) > 1 && strings.ContainsAny(folder[:1], "._")
}

func readSource(root fs.FS, name string) (source, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return source{}, err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		return source{}, err
	}
	one := source{file: name}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return source{}, fmt.Errorf("%s: %w", name, err)
		}
		one.imports = append(one.imports, imported)
	}
	return one, nil
}

// check returns one sentence for every import that breaks the rules and for
// every package without a floor, sorted.
func (r rules) check(sources []source) []string {
	var broken []string
	for _, one := range sources {
		if _, ok := r.place(one.pkg()); !ok {
			broken = append(broken, fmt.Sprintf("%s: package %s has no floor", one.file, one.pkg()))
			continue
		}
		for _, imported := range one.imports {
			if why := r.objection(one, imported); why != "" {
				broken = append(broken, fmt.Sprintf("%s: %s", one.file, why))
			}
		}
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// place looks a package up; support packages named …test inherit the floor of
// the package above them.
func (r rules) place(pkg string) (place, bool) {
	if found, ok := r.table[pkg]; ok {
		return found, true
	}
	if !strings.HasSuffix(pkg, "test") {
		return place{}, false
	}
	above, ok := r.table[path.Dir(pkg)]
	return place{floor: above.floor, support: true}, ok
}

func (r rules) objection(from source, imported string) string {
	if imported == "C" {
		return "imports C: the binary is built without cgo"
	}
	if pkg, ok := strings.CutPrefix(imported, module+"/"); ok {
		return r.inside(from, pkg)
	}
	if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") {
		return r.outside(from, imported)
	}
	return ""
}

// inside judges an import of this module's own package.
func (r rules) inside(from source, pkg string) string {
	target, ok := r.place(pkg)
	if !ok {
		return fmt.Sprintf("imports %s, which has no floor", pkg)
	}
	own, _ := r.place(from.pkg())
	if target.support && !from.isTest() && !own.support {
		return fmt.Sprintf("shipped code imports %s, which is support code for tests", pkg)
	}
	if r.mayMeet(from, own, pkg, target) {
		return ""
	}
	direction := "upward"
	if target.floor == own.floor {
		direction = "sideways"
	}
	return fmt.Sprintf("floor %d imports %s on floor %d: %s", own.floor, pkg, target.floor, direction)
}

// mayMeet allows lower floors, an external test its own package, a support
// package what it supports, and tests the support packages of their own floor.
func (r rules) mayMeet(from source, own place, pkg string, target place) bool {
	switch {
	case target.floor < own.floor:
		return true
	case target.floor > own.floor:
		return false
	case from.isTest() && from.pkg() == pkg:
		return true
	case own.support && path.Dir(from.pkg()) == pkg:
		return true
	default:
		return target.support
	}
}

// outside judges an import of a third-party package.
func (r rules) outside(from source, imported string) string {
	owning, allowed, ok := r.owner(imported)
	if !ok {
		return fmt.Sprintf("imports %s, a module that nobody owns", imported)
	}
	own, _ := r.place(from.pkg())
	if from.isTest() || own.support || r.free[from.pkg()] {
		return ""
	}
	if slices.Contains(allowed, from.pkg()) || slices.Contains(allowed, anyPackage) {
		return ""
	}
	if len(allowed) == 0 {
		return fmt.Sprintf("imports %s, which only tests may import", owning)
	}
	return fmt.Sprintf("imports %s, which belongs to %s", owning, strings.Join(allowed, ", "))
}

// owner finds the listed module that holds the imported package.
func (r rules) owner(imported string) (owning string, allowed []string, ok bool) {
	for candidate := imported; candidate != "."; candidate = path.Dir(candidate) {
		if allowed, ok = r.owners[candidate]; ok {
			return candidate, allowed, true
		}
	}
	return "", nil, false
}
