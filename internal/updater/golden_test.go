package updater_test

import (
	"bytes"
	stdcmp "cmp"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/updater"
)

// goldenDir has one folder per case: the trees before and after, case.yaml with
// the input, and expected.json with the structured result.
const goldenDir = "../../testdata/updater"

// update writes expected.json from the current result. It never writes the
// trees: they are maintained by hand because they define the correct result.
var update = flag.Bool("update", false, "write the structured results of the golden cases")

// goldenCase is the content of a case.yaml.
type goldenCase struct {
	About      string
	Components map[string]goldenComponent
	Versions   map[string]goldenVersion
	Write      []goldenWrite
	Render     []goldenRender
	Strings    []string // values that must load as strings in the tree after
	Variants   *bool    // false if the case tests exact bytes, so that other line endings would change it
}

// goldenResult is the content of an expected.json.
type goldenResult struct {
	Changes  []edit.Change  `json:"changes"`
	Refusals []edit.Refusal `json:"refused"`
	Notes    []string       `json:"notes"`
}

func TestGolden(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(filepath.Join(goldenDir, "*", "case.yaml"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no golden cases in %s: %v", goldenDir, err)
	}
	for _, folder := range folders {
		dir := filepath.Dir(folder)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			testGolden(t, dir)
		})
	}
}

func testGolden(t *testing.T, dir string) {
	wanted := readCase(t, filepath.Join(dir, "case.yaml"))
	before, after := readTree(t, filepath.Join(dir, "before")), readTree(t, filepath.Join(dir, "after"))

	got, result := rewriteTree(t, wanted, before)
	if diff := cmp.Diff(after.texts(), got.texts()); diff != "" {
		t.Fatalf("tree differs from after (-want +got):\n%s\nresult: %+v", diff, result)
	}
	compareResult(t, filepath.Join(dir, "expected.json"), result)
	checkChanges(t, before, after, result.Changes)

	again, second := rewriteTree(t, wanted, after)
	if diff := cmp.Diff(after.texts(), again.texts()); diff != "" || len(second.Changes) > 0 {
		t.Errorf("a second pass is not idle: %v\n%s", second.Changes, diff)
	}
	checkReturn(t, wanted, before, after)
	checkStrings(t, after, wanted.Strings)
	if wanted.Variants == nil || *wanted.Variants {
		testVariants(t, wanted, before, after, result)
	}
	for _, render := range wanted.Render {
		t.Run(""+render.name(), func(t *testing.T) {
			t.Parallel()
			render.check(t, got)
		})
	}
}

// readCase reads a case.yaml strictly, so that a misspelled key is an error.
func readCase(t *testing.T, path string) goldenCase {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var wanted goldenCase
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&wanted); err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
	return wanted
}

// rewriteTree scans a tree and rewrites every file in it.
func rewriteTree(t *testing.T, wanted goldenCase, before tree) (tree, goldenResult) {
	t.Helper()
	inventory := scanTree(t, wanted, before)
	after, result := before.clone(), goldenResult{Changes: []edit.Change{}, Refusals: []edit.Refusal{}, Notes: []string{}}
	result.add(updater.Result{Refusals: inventory.Refusals, Notes: inventory.Notes})
	for file, err := range before.files() {
		if err != nil {
			t.Fatal(err)
		}
		rewritten := inventory.Rewrite(context.Background(), file, wanted.version)
		if rewritten.Content != nil {
			after[file.Path] = entry{data: rewritten.Content}
		}
		result.add(rewritten)
	}
	return after, result
}

func scanTree(t *testing.T, wanted goldenCase, files tree) *updater.Inventory {
	t.Helper()
	follower := newGoldenFollower(t, wanted.Components)
	inventory, err := updater.New(follower, updater.Options{Writes: wanted.writes}).Scan(context.Background(), files.files())
	if err != nil {
		t.Fatal(err)
	}
	return inventory
}

func (r *goldenResult) add(rewritten updater.Result) {
	r.Changes = append(r.Changes, rewritten.Changes...)
	r.Refusals = append(r.Refusals, rewritten.Refusals...)
	for _, note := range rewritten.Notes {
		r.Notes = append(r.Notes, note.Position.String()+": "+note.Text)
	}
}

// compareResult compares the structured result with expected.json.
func compareResult(t *testing.T, path string, result goldenResult) {
	t.Helper()
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(result); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("result differs from expected.json (-want +got):\n%s", diff)
	}
}

// checkChanges asserts that the changes are complete: each text is at its
// position, and the lines that differ are exactly those of the changes.
func checkChanges(t *testing.T, before, after tree, changes []edit.Change) {
	t.Helper()
	touched := map[string]map[int]bool{}
	for _, change := range changes {
		if !strings.HasPrefix(textAt(before[change.File].data, change.Line, change.Column), change.From) {
			t.Errorf("%s: %q does not stand there", change.Position, change.From)
		}
		if touched[change.File] == nil {
			touched[change.File] = map[int]bool{}
		}
		for line := range 1 + strings.Count(change.From, "\n") {
			touched[change.File][change.Line+line] = true
		}
	}
	for path := range before {
		old, now := lines(before[path].data), lines(after[path].data)
		for i := range min(len(old), len(now)) {
			if old[i] != now[i] && !touched[path][i+1] && len(old) == len(now) {
				t.Errorf("%s:%d differs, but no change says so", path, i+1)
			}
		}
	}
}

// textAt returns the text that starts at a position.
func textAt(data []byte, line, column int) string {
	text := string(bytes.TrimPrefix(data, []byte(byteOrderMark)))
	rows := lines([]byte(text))
	if line < 1 || line > len(rows) || column < 1 {
		return ""
	}
	row := []rune(rows[line-1])
	if column > len(row) {
		return ""
	}
	return string(row[column-1:]) + strings.Join(rows[line:], "")
}

// lines splits a file after each line feed, as editors and Git count lines.
func lines(data []byte) []string { return strings.SplitAfter(string(data), "\n") }

// checkReturn asserts that a rollback restores the original bytes: v1 -> v2 ->
// v1 changes nothing. It runs only if the files had one version of each
// component and no different pin or quoting was requested.
func checkReturn(t *testing.T, wanted goldenCase, before, after tree) {
	t.Helper()
	versions, one := versionsOf(t, wanted, before)
	if !one || len(wanted.Strings) > 0 {
		return
	}
	back := wanted
	back.Versions = versions
	got, _ := rewriteTree(t, back, after)
	if diff := cmp.Diff(before.texts(), got.texts()); diff != "" {
		t.Errorf("the way back does not lead to the tree before (-want +got):\n%s", diff)
	}
}

// versionsOf returns the versions in a tree, if each component has exactly one.
func versionsOf(t *testing.T, wanted goldenCase, files tree) (versions map[string]goldenVersion, one bool) {
	t.Helper()
	versions = map[string]goldenVersion{}
	for _, reference := range scanTree(t, wanted, files).References {
		component := reference.Component
		if pin := wanted.Components[component].Pin; pin != "" && pin != image.PinKeep || reference.Tag+reference.Digest == "" {
			return nil, false
		}
		known, stated := versions[component], goldenVersion{Tag: reference.Tag, Digest: reference.Digest}
		if known.Tag != "" && stated.Tag != "" && known.Tag != stated.Tag || known.Digest != "" && stated.Digest != "" && known.Digest != stated.Digest {
			return nil, false
		}
		versions[component] = goldenVersion{Tag: stdcmp.Or(known.Tag, stated.Tag), Digest: stdcmp.Or(known.Digest, stated.Digest)}
	}
	return versions, true
}

// checkStrings asserts that each text is a string, and not a number, boolean or
// date, wherever it is the value of a tag.
func checkStrings(t *testing.T, after tree, texts []string) {
	t.Helper()
	for _, text := range texts {
		found := false
		for path, file := range after {
			var node yaml.Node
			if err := yaml.Unmarshal(file.data, &node); err != nil {
				t.Fatalf("load %s: %v", path, err)
			}
			walkScalars(&node, func(scalar *yaml.Node) {
				if scalar.Value != text {
					return
				}
				found = true
				if scalar.ShortTag() != "!!str" {
					t.Errorf("%s:%d: %s loads as %s", path, scalar.Line, text, scalar.ShortTag())
				}
			})
		}
		if !found {
			t.Errorf("%s stands nowhere", text)
		}
	}
}

func walkScalars(node *yaml.Node, visit func(*yaml.Node)) {
	if node.Kind == yaml.ScalarNode {
		visit(node)
	}
	for _, child := range node.Content {
		walkScalars(child, visit)
	}
}
