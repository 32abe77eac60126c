package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/docscheck"
)

// tree is a checkout as the figures see it.
type tree struct {
	packages     map[string]*pkg // shipped packages by folder
	habits       []finding       // of shipped code
	testLines    int             // of _test.go files and of support packages
	testNames    int
	codedTests   int // test names with a code of two digits, for instance TestRun_P13
	commentLines int // of all Go files
	commentHits  int
	docWords     int // of Markdown files
	docHits      int
	helpWords    int // of the strings in internal/cli
	helpHits     int
}

// pkg is one shipped package.
type pkg struct {
	lines     int
	files     map[string]*ast.File
	functions []int          // lines of each
	methods   map[string]int // by type
	spread    map[string]map[string]bool
}

// isSupport reports whether a folder holds code that only tests and tools use.
func isSupport(folder string) bool {
	if strings.HasPrefix(folder, "hack") || strings.HasSuffix(folder, "test") {
		return true
	}
	switch path.Base(folder) {
	case "layers", "docscheck", "benchtree", "benchworld", "chartcheck", "keycheck":
		return true
	}
	return false
}

var coded = regexp.MustCompile(`_[A-Z][0-9]{2}(_|$)`)

func readTree(root fs.FS) (*tree, error) {
	t := &tree{packages: map[string]*pkg{}}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case entry.IsDir() && (base == "testdata" || base == "node_modules" || len(base) > 1 && base[0] == '.'):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		case path.Ext(name) == ".md":
			text, err := fs.ReadFile(root, name)
			t.docWords += len(strings.Fields(string(text)))
			t.docHits += hits(string(text))
			return err
		case path.Ext(name) == ".go":
			text, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			return t.addGo(name, string(text))
		}
		return nil
	})
	return t, err
}

// hits counts the listed phrases in a text.
func hits(text string) int {
	n := 0
	for _, phrase := range docscheck.Phrases() {
		n += len(phrase.Pattern.FindAllStringIndex(text, -1))
	}
	return n
}

func (t *tree) addGo(name, text string) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		first, last := files.Position(group.Pos()).Line, files.Position(group.End()).Line
		t.commentLines += last - first + 1
		t.commentHits += hits(group.Text())
	}
	folder, lines := path.Dir(name), strings.Count(text, "\n")
	if strings.HasSuffix(name, "_test.go") || isSupport(folder) {
		t.testLines += lines
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				t.testNames++
				if coded.MatchString(f.Name.Name) {
					t.codedTests++
				}
			}
		}
		return nil
	}
	p := t.packages[folder]
	if p == nil {
		p = &pkg{files: map[string]*ast.File{}, methods: map[string]int{}, spread: map[string]map[string]bool{}}
		t.packages[folder] = p
	}
	p.lines += lines
	p.files[name] = file
	t.habits = append(t.habits, findHabits(name, text, files, file)...)
	for _, declaration := range file.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		p.functions = append(p.functions, files.Position(f.End()).Line-files.Position(f.Pos()).Line+1)
		if receiver := receiverOf(f); receiver != "" {
			p.methods[receiver]++
			if p.spread[receiver] == nil {
				p.spread[receiver] = map[string]bool{}
			}
			p.spread[receiver][name] = true
		}
	}
	if strings.HasPrefix(folder, "internal/cli") {
		t.addHelp(file)
	}
	return nil
}

// addHelp counts the words of the string literals of the command line.
func (t *tree) addHelp(file *ast.File) {
	ast.Inspect(file, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING && strings.Contains(literal.Value, " ") {
			t.helpWords += len(strings.Fields(literal.Value))
			t.helpHits += hits(literal.Value)
		}
		return true
	})
}

func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// dependencies returns, for each file of a package, the other files of it whose
// declarations it uses. Names are resolved within the package by spelling, methods only
// where one type of the package has a method of that name.
func (p *pkg) dependencies() map[string]map[string]bool {
	declared, methods := map[string]string{}, map[string][]string{}
	for name, file := range p.files {
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					declared[d.Name.Name] = name
				} else {
					methods[d.Name.Name] = append(methods[d.Name.Name], name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						declared[s.Name.Name] = name
					case *ast.ValueSpec:
						for _, one := range s.Names {
							declared[one.Name] = name
						}
					}
				}
			}
		}
	}
	uses := map[string]map[string]bool{}
	for name, file := range p.files {
		uses[name] = map[string]bool{}
		selected := map[*ast.Ident]bool{}
		ast.Inspect(file, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.SelectorExpr:
				selected[n.Sel] = true
				if in := methods[n.Sel.Name]; len(in) == 1 && in[0] != name {
					uses[name][in[0]] = true
				}
			case *ast.Ident:
				if in := declared[n.Name]; in != "" && in != name && !selected[n] {
					uses[name][in] = true
				}
			}
			return true
		})
	}
	return uses
}

// upward counts the dependencies between the files of a package, and how many of them
// point against the order in which the fewest do. The order is found by taking files
// that use nothing that is left, then files that nothing left uses, then the file with
// the greatest surplus of users (Eades, Lin and Smyth 1993), so the count is an upper bound.
func (p *pkg) upward() (against, all int) {
	uses := p.dependencies()
	left := map[string]bool{}
	for name := range uses {
		left[name] = true
		all += len(uses[name])
	}
	degree := func(name string) (out, in int) {
		for other := range left {
			if uses[name][other] {
				out++
			}
			if uses[other][name] {
				in++
			}
		}
		return out, in
	}
	var top, bottom []string
	for len(left) > 0 {
		best, surplus := "", 0
		for _, name := range sorted(left) {
			out, in := degree(name)
			if out == 0 {
				best = ""
				bottom = append(bottom, name)
				delete(left, name)
				break
			}
			if in == 0 {
				best = ""
				top = append(top, name)
				delete(left, name)
				break
			}
			if best == "" || out-in > surplus {
				best, surplus = name, out-in
			}
		}
		if best != "" {
			top = append(top, best)
			delete(left, best)
		}
	}
	slices.Reverse(bottom)
	position := map[string]int{}
	for i, name := range slices.Concat(top, bottom) {
		position[name] = i
	}
	for name, used := range uses {
		for other := range used {
			if position[other] < position[name] {
				against++
			}
		}
	}
	return against, all
}

func sorted(set map[string]bool) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
