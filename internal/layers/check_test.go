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
	table  map[string]position
	owners map[string][]string
	free   map[string]bool
}

// source is one Go file and its imports.
type source struct {
	file    string // slash-separated, from the root of the module
	imports []string
}

func (s source) pkg() string  { return path.Dir(s.file) }
func (s source) isTest() bool { return strings.HasSuffix(s.file, "_test.go") }

// readSources parses the imports of every Go file below the root, regardless of
// build constraints. It reads the files directly instead of running the go
// command, because the test cache would not detect changes in its output.
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

// skipped reports whether the go command also ignores the folder.
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
// every package without a layer, sorted.
func (r rules) check(sources []source) []string {
	var broken []string
	for _, one := range sources {
		if _, ok := r.position(one.pkg()); !ok {
			broken = append(broken, fmt.Sprintf("%s: package %s has no layer", one.file, one.pkg()))
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

// position looks up a package. Support packages named …test belong to the layer of
// their parent package.
func (r rules) position(pkg string) (position, bool) {
	if found, ok := r.table[pkg]; ok {
		return found, true
	}
	if !strings.HasSuffix(pkg, "test") {
		return position{}, false
	}
	above, ok := r.table[path.Dir(pkg)]
	return position{layer: above.layer, support: true}, ok
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

// inside checks an import of a package of this module.
func (r rules) inside(from source, pkg string) string {
	target, ok := r.position(pkg)
	if !ok {
		return fmt.Sprintf("imports %s, which has no layer", pkg)
	}
	own, _ := r.position(from.pkg())
	if target.support && !from.isTest() && !own.support {
		return fmt.Sprintf("shipped code imports %s, which is support code for tests", pkg)
	}
	if r.mayMeet(from, own, pkg, target) {
		return ""
	}
	direction := "upward"
	if target.layer == own.layer {
		direction = "sideways"
	}
	return fmt.Sprintf("layer %d imports %s on layer %d: %s", own.layer, pkg, target.layer, direction)
}

// mayMeet reports whether an import is allowed: of a lower layer, of its own
// package by an external test, of the supported package by a support package,
// and of the support packages of its own layer by a test.
func (r rules) mayMeet(from source, own position, pkg string, target position) bool {
	switch {
	case target.layer < own.layer:
		return true
	case target.layer > own.layer:
		return false
	case from.isTest() && from.pkg() == pkg:
		return true
	case own.support && path.Dir(from.pkg()) == pkg:
		return true
	default:
		return target.support
	}
}

// outside checks an import of a third-party package.
func (r rules) outside(from source, imported string) string {
	owning, allowed, ok := r.owner(imported)
	if !ok {
		return fmt.Sprintf("imports %s, a module without an owner", imported)
	}
	own, _ := r.position(from.pkg())
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

// owner finds the listed module that contains the imported package.
func (r rules) owner(imported string) (owning string, allowed []string, ok bool) {
	for candidate := imported; candidate != "."; candidate = path.Dir(candidate) {
		if allowed, ok = r.owners[candidate]; ok {
			return candidate, allowed, true
		}
	}
	return "", nil, false
}
