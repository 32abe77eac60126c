package docscheck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestWords_areStandardTerms(t *testing.T) {
	t.Parallel()
	found, err := findPhrases(checkout(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range found {
		t.Error(one)
	}
}

func TestFindPhrases_readsCommentsAndMessages(t *testing.T) {
	t.Parallel()
	found, err := findPhrases(fstest.MapFS{
		"internal/a/a.go": {Data: []byte("package a\n\n// f says whether it is.\nfunc f() string { return \"nobody is here\" }\n\nvar anew = \"tells\"\n")},
		// Only comments count in tests: their strings may quote what a user wrote.
		"internal/a/a_test.go": {Data: []byte("package a\n\n// It lets go of it.\nvar x = \"whoever comes\"\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`internal/a/a.go:3: "says whether": write "reports whether"`,
		`internal/a/a.go:4: "nobody": write "a user, another process, no caller, …"`,
		`internal/a/a_test.go:3: "lets go of": write "releases"`,
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// findPhrases returns a line for each use of a listed phrase, in the comments of every Go
// file and in the strings with a space of shipped ones, which are errors, log messages, and help.
func findPhrases(files fs.FS) ([]string, error) {
	phrases := Phrases()
	var found []string
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || len(entry.Name()) > 1 && entry.Name()[0] == '.'):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go" || strings.HasPrefix(name, "internal/docscheck/words"):
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		report := func(at token.Pos, text string) {
			for _, phrase := range phrases {
				if match := phrase.Pattern.FindString(text); match != "" {
					found = append(found, positions.Position(at).String()[:len(name)]+":"+strconv.Itoa(positions.Position(at).Line)+
						": "+strconv.Quote(match)+": write "+strconv.Quote(phrase.Instead))
				}
			}
		}
		for _, group := range file.Comments {
			for _, comment := range group.List {
				report(comment.Pos(), comment.Text)
			}
		}
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING && strings.Contains(literal.Value, " ") {
				report(literal.Pos(), literal.Value)
			}
			return true
		})
		return nil
	})
	return found, err
}
