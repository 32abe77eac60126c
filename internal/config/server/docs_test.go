package serverconfig

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const docsFile = "../../../docs/configuration.md"

// TestDocs_variables makes sure that the table of variables is that of the code.
func TestDocs_variables(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range variables {
		if !strings.Contains(string(text), "| `"+v.name+"` | `"+v.key+"`") {
			t.Errorf("the variable %s for %s is not in the table", v.name, v.key)
		}
	}
}

// TestDocs_serverFiles loads every example of a server file on any page.
func TestDocs_serverFiles(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../../docs/registries/*.md")
	if err != nil || len(more) < 9 {
		t.Fatalf("%d pages of registries: %v", len(more), err)
	}
	for _, folder := range []string{"operate", "guides"} {
		inFolder, err := filepath.Glob("../../../docs/" + folder + "/*.md")
		if err != nil || len(inFolder) == 0 {
			t.Fatalf("%d pages of %s: %v", len(inFolder), folder, err)
		}
		pages = append(pages, inFolder...)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(# promoter-server.yaml\n.*?)```")
	for _, page := range slices.Concat(pages, more) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found := blocks.FindAllSubmatch(text, -1)
		if slices.Contains(more, page) && len(found) == 0 {
			t.Errorf("%s shows no server file", page)
		}
		for _, block := range found {
			if c, problems := Load("block", block[1], func(string) (string, bool) { return "", false }); c == nil || len(problems) > 0 {
				t.Errorf("%s: a block does not load:\n%s\n%s", page, problems, block[1])
			}
		}
	}
}
