package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
	"promoter/internal/promotion"
)

// commandsPage returns docs/commands.md, and jsonPage the page with the JSON forms.
func commandsPage(t *testing.T) string { return readPage(t, "commands.md") }
func jsonPage(t *testing.T) string     { return readPage(t, "reference/json.md") }

func readPage(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

var (
	exampleFile  = regexp.MustCompile("(?ms)^```yaml\n# file: (\\S+)\n(.*?)^```$")
	consoleBlock = regexp.MustCompile("(?ms)^```console\n\\$ promoter ([^\n]*)\n(.*?)^```$")
)

// TestDocument_examples runs the examples of docs/commands.md one after the other in the
// folder that the page shows, and those of docs/reference/json.md in the same folder, new.
func TestDocument_examples(t *testing.T) {
	t.Parallel()
	page := commandsPage(t)
	if files, examples := runExamples(t, page); files < 3 || examples < 6 {
		t.Fatalf("%d files, %d examples", files, examples)
	}
	folder, _, _ := strings.Cut(page, "\n## plan\n")
	if _, examples := runExamples(t, folder+jsonPage(t)); examples == 0 {
		t.Fatal("no examples of JSON")
	}
}

// TestDocument_guides runs the examples of each guide in the folder that it shows.
func TestDocument_guides(t *testing.T) {
	t.Parallel()
	guides, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil || len(guides) < 8 {
		t.Fatalf("%d guides: %v", len(guides), err)
	}
	for _, guide := range guides {
		t.Run(filepath.Base(guide), func(t *testing.T) {
			t.Parallel()
			page, err := os.ReadFile(guide)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(page), "\n# file: .promoter.yaml\n") {
				runExamples(t, string(page))
			}
		})
	}
}

// runExamples runs the examples of a page in a folder with the files that it shows, and
// returns the number of both. The page must show exactly what each prints.
func runExamples(t *testing.T, page string) (shown, run int) {
	t.Helper()
	files := map[string]string{}
	for _, found := range exampleFile.FindAllStringSubmatch(page, -1) {
		files[found[1]] = found[2]
	}
	examples := consoleBlock.FindAllStringSubmatch(page, -1)
	if all := strings.Count(page, "```console"); len(examples) != all {
		t.Fatalf("%d of %d examples begin with $ promoter", len(examples), all)
	}
	dir := consoletest.Folder(t, files)
	for _, example := range examples {
		c := consoletest.New()
		code := c.Run(t.Context(), root, append(strings.Fields(example[1]), "--dir", dir)...)
		got := c.Out.String() + c.Err.String()
		if code != console.ExitDone {
			got += fmt.Sprintf("exit %d\n", code)
		}
		if diff := cmp.Diff(example[2], got); diff != "" {
			t.Errorf("promoter %s (-page +got):\n%s", example[1], diff)
		}
	}
	return len(files), len(examples)
}

// TestDocument_isWhole finds every command, every state, and every key of plan -o json on the page
// about it.
func TestDocument_isWhole(t *testing.T) {
	t.Parallel()
	states := readPage(t, "promotion.md")
	needed := []string{}
	for _, state := range []promotion.State{
		promotion.Same, promotion.Absent, promotion.NoReference, promotion.Waiting,
		promotion.Proposed, promotion.Refused, promotion.NotCheckedOut, promotion.Unanswered,
	} {
		needed = append(needed, fmt.Sprintf("| `%s` |", state))
	}
	for _, state := range []promotion.ConditionState{promotion.Passed, promotion.Pending, promotion.Failed, promotion.Unknown} {
		needed = append(needed, fmt.Sprintf("`%s`", state))
	}
	for _, text := range needed {
		if !strings.Contains(states, text) {
			t.Errorf("docs/promotion.md does not say %s", text)
		}
	}
	page := commandsPage(t)
	for _, command := range root(consoletest.New().System).Commands() {
		if text := "promoter " + command.Name(); !command.Hidden && !strings.Contains(page, text) {
			t.Errorf("docs/commands.md does not say %s", text)
		}
	}
	for _, key := range jsonKeys(t) {
		if !strings.Contains(jsonPage(t), key) {
			t.Errorf("docs/reference/json.md does not say %s", key)
		}
	}
}

// jsonKeys returns the keys of the JSON form, as the table has them.
func jsonKeys(t *testing.T) []string {
	t.Helper()
	golden, err := os.ReadFile("render/testdata/plan.json")
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(golden, &value); err != nil {
		t.Fatal(err)
	}
	var keys []string
	var visit func(any)
	visit = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for key, inner := range value {
				keys = append(keys, key+"`")
				visit(inner)
			}
		case []any:
			for _, inner := range value {
				visit(inner)
			}
		}
	}
	visit(value)
	return keys
}
