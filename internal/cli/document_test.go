package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"promoter/internal/promotion"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func commandsPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

var (
	exampleFile  = regexp.MustCompile("(?ms)^```yaml\n# file: (\\S+)\n(.*?)^```$")
	consoleBlock = regexp.MustCompile("(?ms)^```console\n\\$ promoter ([^\n]*)\n(.*?)^```$")
)

// TestDocument_examples runs the examples of docs/commands.md one after the other
// in the folder that the page shows.
func TestDocument_examples(t *testing.T) {
	t.Parallel()
	if files, examples := runExamples(t, commandsPage(t)); files < 3 || examples < 5 {
		t.Fatalf("%d files, %d examples", files, examples)
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
	dir := folder(t, files)
	for _, example := range examples {
		c := newConsole()
		code := c.run(t.Context(), append(strings.Fields(example[1]), "--dir", dir)...)
		got := c.out.String() + c.err.String()
		if code != exitDone {
			got += fmt.Sprintf("exit %d\n", code)
		}
		if diff := cmp.Diff(example[2], got); diff != "" {
			t.Errorf("promoter %s (-page +got):\n%s", example[1], diff)
		}
	}
	return len(files), len(examples)
}

// TestDocument_isWhole finds every flag, state and key on the page.
func TestDocument_isWhole(t *testing.T) {
	t.Parallel()
	page := commandsPage(t)
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
	for _, command := range newRoot(newConsole().System).Commands() {
		needed = append(needed, flagsOf(command)...)
	}
	needed = append(needed, jsonKeys(t)...)
	for _, text := range needed {
		if !strings.Contains(page, text) {
			t.Errorf("docs/commands.md does not say %s", text)
		}
	}
}

func flagsOf(command *cobra.Command) []string {
	names := []string{"promoter " + command.Name()}
	for flag := range each(command.LocalFlags().VisitAll) {
		names = append(names, "`--"+flag.Name)
	}
	return names
}

// jsonKeys returns the keys of the JSON form, as the table has them.
func jsonKeys(t *testing.T) []string {
	t.Helper()
	golden, err := os.ReadFile("testdata/plan.json")
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
