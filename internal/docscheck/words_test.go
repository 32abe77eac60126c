package docscheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
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

func TestFindPhrases_readsCommentsMessagesAndDocuments(t *testing.T) {
	t.Parallel()
	found, err := findPhrases(fstest.MapFS{
		"internal/a/a.go": {Data: []byte("package a\n\n// f says whether it is.\nfunc f() string { return \"nobody is here\" }\n\nvar anew = \"tells\"\n")},
		// Only comments count in tests: their strings may quote what a user wrote.
		"internal/a/a_test.go": {Data: []byte("package a\n\n// It lets go of it.\nvar x = \"whoever comes\"\n")},
		// Words of several lines are found where they begin.
		"docs/a.md":                    {Data: []byte("# A\n\nIt `tells` and says\nwhether.\n")},
		"charts/a/templates/NOTES.txt": {Data: []byte("whoever\n")},
		"config/examples/a.yaml":       {Data: []byte("a: 1 # anew\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`charts/a/templates/NOTES.txt:1: "whoever": write "a user who, any caller that"`,
		`config/examples/a.yaml:1: "anew": write "again"`,
		`docs/a.md:3: "says whether": write "reports whether"`,
		`internal/a/a.go:3: "says whether": write "reports whether"`,
		`internal/a/a.go:4: "nobody": write "a user, another process, no caller, …"`,
		`internal/a/a_test.go:3: "lets go of": write "releases"`,
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// findPhrases returns a line for each use of a listed phrase: in the comments of every Go
// file, in the strings with a space of shipped ones, which are errors, log messages, and
// help, and in what users read besides: documents, examples, and the texts of the chart.
func findPhrases(files fs.FS) ([]string, error) {
	phrases := Phrases()
	var found []string
	report := func(name string, line int, text string) {
		flat := strings.ReplaceAll(text, "\n", " ")
		for _, phrase := range phrases {
			for _, at := range phrase.Pattern.FindAllStringIndex(flat, -1) {
				found = append(found, fmt.Sprintf("%s:%d: %q: write %q",
					name, line+strings.Count(text[:at[0]], "\n"), flat[at[0]:at[1]], phrase.Instead))
			}
		}
	}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || len(entry.Name()) > 1 && entry.Name()[0] == '.'):
			return fs.SkipDir
		case entry.IsDir() || strings.HasPrefix(name, "internal/docscheck/words"):
			return nil
		}
		isText := path.Ext(name) == ".md" || path.Base(name) == "NOTES.txt" || strings.HasPrefix(name, "config/") || path.Base(name) == "values.yaml"
		if !isText && path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if isText {
			// Code spans may quote names that are no longer in use.
			report(name, 1, codeSpan.ReplaceAllStringFunc(string(text), func(code string) string { return strings.Repeat("_", len(code)) }))
			return nil
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			for _, comment := range group.List {
				report(name, positions.Position(comment.Pos()).Line, comment.Text)
			}
		}
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING && strings.Contains(literal.Value, " ") {
				report(name, positions.Position(literal.Pos()).Line, literal.Value)
			}
			return true
		})
		return nil
	})
	return found, err
}
