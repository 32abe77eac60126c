package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestDocs_serverFiles loads every example of a server's file on any page.
func TestDocs_serverFiles(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../docs/registries/*.md")
	if err != nil || len(more) < 9 {
		t.Fatalf("%d pages of registries: %v", len(more), err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(# promoter-server.yaml\n.*?)```")
	for _, page := range slices.Concat(pages, more) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found := blocks.FindAllSubmatch(text, -1)
		if slices.Contains(more, page) && len(found) == 0 {
			t.Errorf("%s shows no server's file", page)
		}
		for _, block := range found {
			if loaded, problems := loadBlock(block[1]); !loaded || len(problems) > 0 {
				t.Errorf("%s: a block does not load:\n%s\n%s", page, problems, block[1])
			}
		}
	}
}
