package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const source = `package low

func Low(a, b int, all []int) bool {
	n := 0
	if a == 1 || b == 2 {
		n++
	}
	switch {
	case a > b:
		return true
	}
	all = append(all, n)
	return n == 0 && len(all) > 1
}
`

func TestMutate_listsOneChangeEach(t *testing.T) {
	t.Parallel()
	mutants, err := mutate("low.go", source, regexp.MustCompile(""))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range mutants {
		before, after := strings.Split(source, "\n"), strings.Split(one.apply(), "\n")
		got = append(got, one.key()+" -> "+strings.TrimSpace(after[one.line-1]))
		after[one.line-1] = before[one.line-1]
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s changes another line (-want +got):\n%s", one.key(), diff)
		}
	}
	want := []string{
		"low.go | Low | negate | a == 1 || b == 2 -> if !(a == 1 || b == 2) {",
		"low.go | Low | swap | a == 1 || b == 2 -> if (a == 1) && (b == 2) {",
		"low.go | Low | drop | a == 1 -> if (false && (a == 1) || b == 2) {",
		"low.go | Low | drop | b == 2 -> if (a == 1 || false && (b == 2)) {",
		"low.go | Low | swap | a == 1 -> if (a) != (1) || b == 2 {",
		"low.go | Low | swap | b == 2 -> if a == 1 || (b) != (2) {",
		"low.go | Low | delete | n++ -> ",
		"low.go | Low | skip | a > b -> case false && (a > b):",
		"low.go | Low | return | return true -> return false",
		"low.go | Low | delete | all = append(all, n) -> ",
		"low.go | Low | drop | n -> all = append(all)",
		"low.go | Low | swap | n == 0 && len(all) > 1 -> return (n == 0) || (len(all) > 1)",
		"low.go | Low | swap | n == 0 -> return (n) != (0) && len(all) > 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMutate_tellsTheSameTextApart(t *testing.T) {
	t.Parallel()
	mutants, err := mutate("a.go", "package a\n\nfunc (x *T) f() { g(); g() }\n\nfunc g() { g() }\n", regexp.MustCompile("^f$"))
	if err != nil || len(mutants) != 2 || mutants[0].key() != "a.go | T.f | delete | g()" || mutants[1].key() != "a.go | T.f | delete | g() #2" {
		t.Errorf("%v, %v", mutants, err)
	}
}

// newModule writes a small module, and returns its folder.
func newModule(t *testing.T, files map[string]string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not installed")
	}
	root := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestRun tests the mutants of a small module.
func TestRun(t *testing.T) {
	t.Parallel()
	root := newModule(t, map[string]string{
		"go.mod":      "module small\n\ngo 1.26\n",
		"one.go":      "package small\n\nfunc Both(a, b bool) bool { return a && b }\n\nfunc Same(a int) int {\n\tif a == 0 {\n\t\treturn a\n\t}\n\treturn a\n}\n",
		"one_test.go": "package small\n\nimport \"testing\"\n\nfunc TestBoth(t *testing.T) {\n\tif Both(true, false) || Same(1) != 1 {\n\t\tt.Fail()\n\t}\n}\n",
	})
	groups := []group{{[]string{"one.go"}, "^(Both|Same)$", []tests{{[]string{"."}, ""}}}}
	var out strings.Builder
	err := run(t.Context(), &out, root, groups, "one.go | Same | negate | a == 0\n both branches return the same\n", options{atOnce: 1})
	if err == nil || !strings.HasPrefix(err.Error(), "1 mutants survive") {
		t.Errorf("%v\n%s", err, &out)
	}
	if want := "mutants 3 killed 1 equivalent 1 not compiling 0 not run 0 SURVIVED 1 one.go:6: one.go | Same | swap | a == 0"; !strings.HasSuffix(strings.Join(strings.Fields(out.String()), " "), want) {
		t.Errorf("no %q in\n%s", want, &out)
	}
}

// Tests that are not there would kill no mutant.
func TestRun_testsMustExist(t *testing.T) {
	t.Parallel()
	root := newModule(t, map[string]string{
		"go.mod":      "module small\n\ngo 1.26\n",
		"one.go":      "package small\n\nfunc f() { g() }\n\nfunc g() {}\n",
		"one_test.go": "package small\n\nimport \"testing\"\n\nfunc TestF(*testing.T) { f() }\n",
	})
	groups := []group{{[]string{"one.go"}, "", []tests{{[]string{"."}, "TestG"}}}}
	err := run(t.Context(), &strings.Builder{}, root, groups, "", options{atOnce: 1})
	if err == nil || !strings.Contains(err.Error(), "matches no test") {
		t.Errorf("%v", err)
	}
}

func TestRun_entriesMustBeRight(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "one.go"), []byte("package small\n\nfunc f() { g() }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	groups := []group{{[]string{"one.go"}, "", nil}}
	for text, want := range map[string]string{
		"one.go | f | delete | h()\n because\n": `there is no mutant "one.go | f | delete | h()"`,
		"one.go | f | delete | g()\n":           "no reason",
		" because\n":                            "begins with a reason",
		"one.go | f | delete | g()\n because\none.go | f | delete | g()\n because of that": "two entries",
	} {
		if err := run(t.Context(), &strings.Builder{}, root, groups, text, options{list: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestGroups checks that the table names code that exists, and the entries mutants of it.
func TestGroups(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), &out, filepath.Join("..", ".."), groups(), equivalentText, options{list: true}); err != nil {
		t.Error(err)
	}
	if out.Len() == 0 {
		t.Error("there are no mutants")
	}
}
