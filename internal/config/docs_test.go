package config

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"promoter/internal/strictyaml"
	"promoter/internal/strictyaml/strictyamltest"
)

const docsFile = "../../docs/configuration.md"

// TestDocs_blocks loads every example of the reference page.
func TestDocs_blocks(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) < 5 {
		t.Fatalf("found %d blocks", len(blocks))
	}
	for _, block := range blocks {
		if bytes.HasPrefix(block[1], []byte("# promoter-server.yaml")) {
			continue
		}
		if c, problems := Load("block", block[1]); c == nil {
			t.Errorf("a block does not load:\n%s\n%s", problems, block[1])
		}
	}
}

// TestDocs_guides loads every config file of the guides, which begins with its version or
// name. Those that the guides run must not have warnings either.
func TestDocs_guides(t *testing.T) {
	t.Parallel()
	guides, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil || len(guides) < 8 {
		t.Fatalf("%d guides: %v", len(guides), err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n((?:# (?:file: )?\\.promoter\\.yaml\n)?version: 1\n.*?)```")
	for _, guide := range guides {
		text, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks.FindAllSubmatch(text, -1) {
			c, problems := Load("block", block[1])
			if warned := len(problems) > 0 && bytes.HasPrefix(block[1], []byte("# file: ")); c == nil || warned {
				t.Errorf("%s: a block has problems:\n%s\n%s", filepath.Base(guide), problems, block[1])
			}
		}
	}
}

// TestDocs_everyKey makes sure that no key is left out of the reference page.
func TestDocs_everyKey(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, code := range regexp.MustCompile("`[^`\n]+`").FindAllString(string(text), -1) {
		for _, word := range regexp.MustCompile(`[A-Za-z]+`).FindAllString(code, -1) {
			named[word] = true
		}
	}
	for _, raw := range strictyamltest.RawTypes(rawConfig{}) {
		for i := range raw.NumField() {
			key, tagged := raw.Field(i).Tag.Lookup("yaml")
			if tagged && key != strictyaml.ExtensionKeys && !named[key] {
				t.Errorf("the key %s of %s is not in %s", key, raw.Name(), docsFile)
			}
		}
	}
}

// TestDocs_defaultExcludes makes sure that the page names each default exclude.
func TestDocs_defaultExcludes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, exclude := range DefaultExcludes() {
		if !strings.Contains(string(text), "`"+exclude+"`") {
			t.Errorf("the default exclude %s is not named", exclude)
		}
	}
}
