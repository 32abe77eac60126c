package docscheck

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
)

func checkout(t *testing.T) fs.FS {
	t.Helper()
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("the root of the module is not where this test looks: %v", err)
	}
	return os.DirFS(root)
}

func TestDocumentsHold(t *testing.T) {
	t.Parallel()
	tree, err := load(checkout(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, needed := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/architecture.md"} {
		if _, ok := tree.documents[needed]; !ok {
			t.Errorf("there is no %s", needed)
		}
	}
	for _, broken := range tree.check() {
		t.Error(broken)
	}
}

// TestPagesInMessagesExist follows what errors, help, comments of config keys, and the chart
// name as a page, with its anchor.
func TestPagesInMessagesExist(t *testing.T) {
	t.Parallel()
	files := checkout(t)
	tree, err := load(files)
	if err != nil {
		t.Fatal(err)
	}
	page := regexp.MustCompile(`(?:^|[^/\w])(docs/[a-zA-Z0-9/_-]+\.md(?:#[a-z0-9_-]+)?)`)
	count := 0
	for _, root := range []string{"internal", "cmd", "charts", "config"} {
		err := fs.WalkDir(files, root, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") || path.Ext(name) == ".md" || strings.Contains(name, "testdata/") {
				return err
			}
			text, err := fs.ReadFile(files, name)
			for _, found := range page.FindAllStringSubmatch(string(text), -1) {
				count++
				if why := tree.objectToLink("README.md", found[1]); why != "" {
					t.Errorf("%s: %s", name, why)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if count < 50 {
		t.Errorf("only %d pages found", count)
	}
}

func TestEveryDependencyHasItsLine(t *testing.T) {
	t.Parallel()
	files := checkout(t)
	mod, page := read(t, files, "go.mod"), read(t, files, "docs/dependencies.md")
	direct := requirements(mod)
	if len(direct) == 0 {
		t.Fatal("no direct requirement found in go.mod")
	}
	listed := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(page, -1)
	var names []string
	for _, found := range listed {
		names = append(names, found[1])
		if !slices.Contains(direct, found[1]) {
			t.Errorf("docs/dependencies.md lists %s, which go.mod does not require directly", found[1])
		}
	}
	for _, module := range direct {
		if !slices.Contains(names, module) {
			t.Errorf("docs/dependencies.md has no line for %s", module)
		}
	}
}

// requirements returns the modules that go.mod requires directly.
func requirements(mod string) []string {
	var direct []string
	line := regexp.MustCompile(`^(?:require )?\s*(\S+\.\S+/?\S*) v\S+$`)
	for one := range strings.Lines(mod) {
		if found := line.FindStringSubmatch(strings.TrimRight(one, "\n")); found != nil {
			direct = append(direct, found[1])
		}
	}
	return direct
}

func TestEveryDecisionIsListedAndWhole(t *testing.T) {
	t.Parallel()
	files := checkout(t)
	list := read(t, files, "docs/decisions/README.md")
	names, err := fs.Glob(files, "docs/decisions/[0-9]*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("no decisions found: %v", err)
	}
	numbers := map[string]string{}
	for _, name := range names {
		base := path.Base(name)
		if !strings.Contains(list, "]("+base+")") {
			t.Errorf("docs/decisions/README.md does not list %s", base)
		}
		if other, taken := numbers[base[:4]]; taken {
			t.Errorf("%s and %s have the same number", base, other)
		}
		numbers[base[:4]] = base
		text := read(t, files, name)
		for _, part := range []string{"\n## Context\n", "\n## Choice\n", "\n## Price\n"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no part %q", name, strings.TrimSpace(part))
			}
		}
	}
}

// TestConfigExamplesAreValid loads every example of a config file that the
// documents show: the blocks whose first line names the file.
func TestConfigExamplesAreValid(t *testing.T) {
	t.Parallel()
	tree, err := load(checkout(t))
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for name, doc := range tree.documents {
		for _, block := range doc.blocks {
			if !strings.HasPrefix(block.text, "# .promoter.yaml\n") {
				continue
			}
			examples++
			if _, problems := config.Load(".promoter.yaml", []byte(block.text)); len(problems) > 0 {
				t.Errorf("%s:%d: the example has problems: %v", name, block.line, problems)
			}
		}
	}
	if examples == 0 {
		t.Error("no example found, not even the README's")
	}
}

func read(t *testing.T, files fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCheckFinds holds the checks against documents that break one rule each.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a file", "see [it](docs/a.md)", nil},
		{"a folder", "see [it](docs/)", nil},
		{"another host is not asked", "see [it](https://example.com/none)", nil},
		{"a missing file", "one\nsee [it](docs/b.md)", []string{"x.md:2: link to docs/b.md: there is no docs/b.md"}},
		{"an anchor", "see [it](docs/a.md#the-life-of-one-event)", nil},
		{"the second of two anchors", "see [it](docs/a.md#twice-1)", nil},
		{"an anchor of its own", "# Here\n[it](#here)", nil},
		{
			"a missing anchor", "see [it](docs/a.md#gone)",
			[]string{"x.md:1: link to docs/a.md#gone: docs/a.md has no heading #gone"},
		},
		{"a definition", "[it]\n\n[it]: docs/b.md", []string{"x.md:3: link to docs/b.md: there is no docs/b.md"}},
		{"no link in a code span", "`[it](docs/b.md)`", nil},
		{"no link in a block", "```yaml\n[it](docs/b.md)\n```", nil},
		{"a target", "```sh\nmake test\n```", nil},
		{"a missing target", "```sh\nmake tests\n```", []string{`x.md:2: the Makefile has no target "tests"`}},
		{"a missing target after a prompt", "```console\n$ make tests\n```", []string{`x.md:2: the Makefile has no target "tests"`}},
		{"output is no command", "```console\nmake tests\n```", nil},
		{"a verb", "```sh\nbin/promoter plan --dir .\n```", nil},
		{"a missing verb", "```sh\necho x | promoter plans\n```", []string{`x.md:2: promoter has no verb "plans"`}},
		{"a path", "```sh\ngo test ./docs/...\n```", nil},
		{"a missing path", "```sh\ngo test ./internal/none\n```", []string{"x.md:2: there is no ./internal/none"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tree, err := load(fstest.MapFS{
				"x.md":                 {Data: []byte(test.text)},
				"docs/a.md":            {Data: []byte("# The life of *one* event\n## Twice\n## Twice\n")},
				"Makefile":             {Data: []byte("test: ## Test.\n\tgo test\n")},
				"internal/cli/plan.go": {Data: []byte("package cli\nvar x = y{Use: \"plan [flags]\"}\n")},
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, tree.check()); diff != "" {
				t.Errorf("objections (-want +got):\n%s", diff)
			}
		})
	}
}
