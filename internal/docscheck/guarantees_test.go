package docscheck

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestGuaranteesNameTests checks that each guarantee of docs/guarantees.md names tests, and that they exist.
func TestGuaranteesNameTests(t *testing.T) {
	t.Parallel()
	files := checkout(t)
	tests := testNames(t, files)
	for _, wrong := range wrongGuarantees(read(t, files, "docs/guarantees.md"), tests) {
		t.Error(wrong)
	}
}

func TestWrongGuarantees(t *testing.T) {
	t.Parallel()
	page := "| guarantee | tests |\n|---|---|\n| A. | `TestA`, `TestB` |\n| C. | none |\n| D. | `TestA`, `a` |\n\nText.\n"
	want := []string{
		"docs/guarantees.md:3: there is no TestB",
		"docs/guarantees.md:4: no test is named",
	}
	if diff := cmp.Diff(want, wrongGuarantees(page, []string{"TestA"})); diff != "" {
		t.Error(diff)
	}
	if wrong := wrongGuarantees("# Page\n", nil); len(wrong) != 1 {
		t.Errorf("a page without rows: %q", wrong)
	}
	tree := fstest.MapFS{"a/a_test.go": {Data: []byte("package a\n\nfunc TestA(t *testing.T) {\n")}, "a/a.go": {Data: []byte("func TestB(t *testing.T) {\n")}}
	if diff := cmp.Diff([]string{"TestA"}, testNames(t, tree)); diff != "" {
		t.Error(diff)
	}
}

// testNames returns the names of all test functions of a tree.
func testNames(t *testing.T, files fs.FS) []string {
	t.Helper()
	var names []string
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := fs.WalkDir(files, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(files, name)
		for _, found := range function.FindAllStringSubmatch(string(text), -1) {
			names = append(names, found[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// wrongGuarantees returns what is wrong about the rows of the page.
func wrongGuarantees(page string, tests []string) []string {
	var wrong []string
	name := regexp.MustCompile("`(Test\\w+)`")
	rows := 0
	for i, line := range strings.Split(page, "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| guarantee ") {
			continue
		}
		rows++
		named := name.FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			wrong = append(wrong, fmt.Sprintf("docs/guarantees.md:%d: no test is named", i+1))
		}
		for _, one := range named {
			if !slices.Contains(tests, one[1]) {
				wrong = append(wrong, fmt.Sprintf("docs/guarantees.md:%d: there is no %s", i+1, one[1]))
			}
		}
	}
	if rows == 0 {
		wrong = append(wrong, "docs/guarantees.md: no rows")
	}
	return wrong
}
