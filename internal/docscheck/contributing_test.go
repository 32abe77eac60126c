package docscheck

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/receiver"
)

// guided are the pages whose code spans name paths of the tree: the extension guides and
// what leads to them.
func guided(t *testing.T, files fs.FS) []string {
	t.Helper()
	pages, err := fs.Glob(files, "docs/contributing/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no extension guides found: %v", err)
	}
	return append(pages, "docs/architecture.md", "CONTRIBUTING.md")
}

func TestPathsInDocumentsExist(t *testing.T) {
	t.Parallel()
	files := checkout(t)
	for _, page := range guided(t, files) {
		for _, missing := range missingPaths(files, page, parse(read(t, files, page))) {
			t.Error(missing)
		}
	}
}

// TestCommandsAndNamesInDocumentsExist looks up the code spans that are commands, and
// those that are names of Go or of config keys, as far as they are in camel case.
func TestCommandsAndNamesInDocumentsExist(t *testing.T) {
	t.Parallel()
	files := checkout(t)
	tree, err := load(files)
	if err != nil {
		t.Fatal(err)
	}
	names := goNames(t, files)
	command := regexp.MustCompile(`^(?:go|make|promoter) `)
	camelCase := regexp.MustCompile(`^(?:[a-z]+\.)?([A-Za-z]*[a-z][A-Z][A-Za-z]*)(?:\[T\]|\(.*\))?$`)
	count := 0
	for _, page := range guided(t, files) {
		for _, one := range tree.documents[page].spans {
			if why := tree.objectToCommand(one.text); why != "" && command.MatchString(one.text) {
				t.Errorf("%s:%d: %s: %s", page, one.line, one.text, why)
			}
			found := camelCase.FindStringSubmatch(one.text)
			if found == nil {
				continue
			}
			if count++; !names[found[1]] {
				t.Errorf("%s:%d: the code has no %s", page, one.line, one.text)
			}
		}
	}
	if count < 30 {
		t.Errorf("only %d names found", count)
	}
}

// goNames returns the words of the Go files below internal, and of the JSON Schemas.
func goNames(t *testing.T, files fs.FS) map[string]bool {
	t.Helper()
	names, word := map[string]bool{}, regexp.MustCompile(`[A-Za-z]+`)
	for _, root := range []string{"internal", "config"} {
		err := fs.WalkDir(files, root, func(name string, _ fs.DirEntry, err error) error {
			if extension := path.Ext(name); err != nil || extension != ".go" && extension != ".json" {
				return err
			}
			for _, found := range word.FindAllString(read(t, files, name), -1) {
				names[found] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// inTree matches code spans that are paths of the tree.
var inTree = regexp.MustCompile(`^(?:internal|cmd|config|docs|charts|testdata|hack)/[^ ]*$`)

// missingPaths returns one sentence for every path in the code spans of a page that
// does not exist. KIND stands for each kind in the tables of the page, and the path of
// each must exist; NAME and … stand for the name of something new, and something of
// that form must exist.
func missingPaths(files fs.FS, page string, doc document) []string {
	var missing []string
	for _, one := range doc.spans {
		if !inTree.MatchString(one.text) {
			continue
		}
		names := []string{one.text}
		if strings.Contains(one.text, "KIND") {
			names = nil
			for _, kind := range kindsOf(doc, "Existing ") {
				names = append(names, strings.ReplaceAll(one.text, "KIND", kind))
			}
		}
		for _, name := range names {
			pattern := strings.NewReplacer("NAME", "*", "NNNN", "*", "…", "*").Replace(strings.TrimSuffix(name, "/"))
			if found, err := fs.Glob(files, pattern); err != nil || len(found) == 0 {
				missing = append(missing, fmt.Sprintf("%s:%d: there is no %s", page, one.line, name))
			}
		}
		if len(names) == 0 {
			missing = append(missing, fmt.Sprintf("%s:%d: %s, but the page has no table of kinds", page, one.line, one.text))
		}
	}
	return missing
}

// kindsOf returns the code spans of the first cells of the tables under the headings
// that begin with a text, sorted.
func kindsOf(doc document, heading string) []string {
	var kinds []string
	for _, one := range doc.rows {
		kind := strings.Trim(one.cells[0], "`")
		if strings.HasPrefix(one.heading, heading) && kind != one.cells[0] {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

func TestMissingPathsFinds(t *testing.T) {
	t.Parallel()
	const table = "\n## Existing senders\n| kind | file |\n|---|---|\n| `a` | `internal/x/a.go` |\n| `b` | |\n"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a file", "see `internal/x/a.go`", nil},
		{"a folder", "see `internal/x/`", nil},
		{"a missing file", "\nsee `internal/x/c.go`", []string{"p.md:2: there is no internal/x/c.go"}},
		{"another code span", "see `x.Y` and `example.com/internal/x`", nil},
		{"a pattern", "see `internal/x/*_test.go`", []string{"p.md:1: there is no internal/x/*_test.go"}},
		{"a new name", "see `internal/x/NAME.go`", nil},
		{"a new name of a form that nothing has", "see `internal/x/x_NAME.go`", []string{"p.md:1: there is no internal/x/x_NAME.go"}},
		{"each kind", "see `docs/KIND.md`" + table, nil},
		{"each kind, one is missing", "see `internal/x/KIND.go`" + table, []string{"p.md:1: there is no internal/x/b.go"}},
		{"no kinds", "see `docs/KIND.md`", []string{"p.md:1: docs/KIND.md, but the page has no table of kinds"}},
	}
	files := fstest.MapFS{"internal/x/a.go": {}, "docs/a.md": {}, "docs/b.md": {}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, missingPaths(files, "p.md", parse(test.text))); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGuidesListTheKindsOfTheCode compares each table of existing kinds with the code.
func TestGuidesListTheKindsOfTheCode(t *testing.T) {
	t.Parallel()
	files := checkout(t)
	tree, err := load(files)
	if err != nil {
		t.Fatal(err)
	}
	verbs := submatches(t, files, "internal/verb/verb.go", `(?m)^\t\w+ +Verb = "([a-z]+)"`)
	commands := slices.DeleteFunc(slices.Sorted(maps.Keys(tree.verbs)), func(name string) bool {
		return name == "promoter" || slices.Contains(verbs, name)
	})
	adapters := slices.DeleteFunc(folders(t, files, "internal/scm"), func(name string) bool { return name == "rest" })
	tests := []struct {
		page, heading string
		want          []string
	}{
		{"condition-or-gate", "Existing conditions", filesBesideTable(t, files, "internal/promotion/condition")},
		{"condition-or-gate", "Existing gates", filesBesideTable(t, files, "internal/promotion/gate")},
		{"config-key", "Existing sections of .promoter.yaml", slices.Sorted(maps.Keys(definitions(t, files, "config/promoter.schema.json")))},
		{"config-key", "Existing sections of the server file", slices.Sorted(maps.Keys(definitions(t, files, "config/promoter-server.schema.json")))},
		{"file-shape", "Existing shapes", submatches(t, files, "internal/updater/shapes/*.go", `edit\.Shape = "([a-z-]+)"`)},
		{"forge", "Existing forges", adapters},
		{"history-column", "Existing columns", columns(t, files, "history")},
		{"registry", "Existing registries", submatches(t, files, "docs/registries/*.md", `^docs/registries/(\w+)\.md$`)},
		{"registry", "Existing providers", folders(t, files, "internal/registry/auth")},
		{"verb", "Existing decisions and comment commands", verbs},
		{"verb", "Existing commands", commands},
		{"webhook-sender", "Existing senders", receiver.Names()},
	}
	for _, test := range tests {
		t.Run(test.page+"/"+test.heading, func(t *testing.T) {
			t.Parallel()
			if len(test.want) == 0 {
				t.Fatal("the code has none, so the test reads it wrongly")
			}
			got := kindsOf(tree.documents["docs/contributing/"+test.page+".md"], test.heading)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-code +page:\n%s", diff)
			}
		})
	}
}

// filesBesideTable returns the names of the Go files of a folder, without the one that has the
// table of the others.
func filesBesideTable(t *testing.T, files fs.FS, folder string) []string {
	t.Helper()
	names := submatches(t, files, folder+"/*.go", "^"+folder+`/(\w+)\.go$`)
	return slices.DeleteFunc(names, func(name string) bool { return name == path.Base(folder) })
}

// TestConditionGuideNamesTheKeys compares the config keys that the guide names with
// those of the JSON Schema.
func TestConditionGuideNamesTheKeys(t *testing.T) {
	t.Parallel()
	files := checkout(t)
	schema := definitions(t, files, "config/promoter.schema.json")
	doc := parse(read(t, files, "docs/contributing/condition-or-gate.md"))
	for prefix, definition := range map[string]string{"after.PARENT.": "conditions", "gates.": "gates"} {
		var keys []string
		for _, one := range doc.rows {
			if key, found := strings.CutPrefix(strings.Trim(one.cells[1], "`"), prefix); found {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(schema[definition])), keys); diff != "" {
			t.Errorf("keys of %s (-schema +page):\n%s", definition, diff)
		}
	}
}

// TestForgeGuideNamesTheKinds compares the kinds in the second column of the table with
// those that the server file accepts.
func TestForgeGuideNamesTheKinds(t *testing.T) {
	t.Parallel()
	files := checkout(t)
	var kinds []string
	for _, one := range parse(read(t, files, "docs/contributing/forge.md")).rows {
		if one.heading == "Existing forges" {
			kinds = append(kinds, strings.Split(one.cells[1], "`")[1])
		}
	}
	slices.Sort(kinds)
	accepted := definitions(t, files, "config/promoter-server.schema.json")["forge"]["kind"].(map[string]any)["enum"].([]any)
	var want []string
	for _, kind := range accepted {
		want = append(want, kind.(string))
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("kinds (-schema +page):\n%s", diff)
	}
}

// TestConfigGuideNamesTheFileOfEachSection makes sure that the raw type of each section
// is in the file that the guide names.
func TestConfigGuideNamesTheFileOfEachSection(t *testing.T) {
	t.Parallel()
	files := checkout(t)
	for _, one := range parse(read(t, files, "docs/contributing/config-key.md")).rows {
		if !strings.HasPrefix(one.heading, "Existing ") {
			continue
		}
		section, file := strings.Trim(one.cells[0], "`"), strings.Trim(one.cells[1], "`")
		name := strings.ToUpper(section[:1]) + section[1:]
		if !regexp.MustCompile(`(?m)^type [rR]aw` + name + ` struct`).MatchString(read(t, files, file)) {
			t.Errorf("line %d: %s has no type raw%s", one.line, file, name)
		}
	}
}

// submatches collects, sorted, what the first group of an expression finds in the
// content of files or, if it begins with a path, in their names.
func submatches(t *testing.T, files fs.FS, pattern, expression string) []string {
	t.Helper()
	names, err := fs.Glob(files, pattern)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, name := range names {
		text := name
		switch {
		case strings.HasSuffix(name, "_test.go"):
			continue
		case !strings.HasPrefix(expression, "^"):
			text = read(t, files, name)
		}
		for _, found := range regexp.MustCompile(expression).FindAllStringSubmatch(text, -1) {
			all = append(all, found[1])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// folders returns the folders of packages that are shipped.
func folders(t *testing.T, files fs.FS, parent string) []string {
	t.Helper()
	entries, err := fs.ReadDir(files, parent)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasSuffix(entry.Name(), "test") {
			names = append(names, path.Base(entry.Name()))
		}
	}
	return names
}

// definitions returns the definitions of a JSON Schema with their keys.
func definitions(t *testing.T, files fs.FS, name string) map[string]map[string]any {
	t.Helper()
	var schema struct {
		Definitions map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(read(t, files, name)), &schema); err != nil {
		t.Fatal(err)
	}
	keys := map[string]map[string]any{}
	for name, definition := range schema.Definitions {
		keys[name] = definition.Properties
	}
	return keys
}

// columns returns the columns of a table, sorted, from its creation and its changes.
func columns(t *testing.T, files fs.FS, table string) []string {
	t.Helper()
	names, err := fs.Glob(files, "internal/database/migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, name := range names {
		text := read(t, files, name)
		if _, body, created := strings.Cut(text, "create table "+table+" (\n"); created {
			body, _, _ = strings.Cut(body, "\n);")
			for _, found := range regexp.MustCompile(`(?m)^  (\w+) +(?:text|bigint|bytea)\b`).FindAllStringSubmatch(body, -1) {
				all = append(all, found[1])
			}
		}
		for _, found := range regexp.MustCompile(`alter table `+table+` add column (\w+)`).FindAllStringSubmatch(text, -1) {
			all = append(all, found[1])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
