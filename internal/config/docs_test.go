package config

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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

// TestReference_showsSupportedKeys makes sure that the reference has a heading for each key
// that works, at the first place where it is allowed, and none for reserved keys.
func TestReference_showsSupportedKeys(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/config.md")
	if err != nil {
		t.Fatal(err)
	}
	for heading, want := range map[string]bool{
		"components.<name>.select.semver":              true,
		"components.<name>.poll.timeZone":              true,
		"environments.<name>.after.<parent>.soak":      true,
		"environments.<name>.gates.approvals.count":    true,
		"environments.<name>.write[].file":             true,
		"applications.<glob>.environments":             true,
		"applications.<glob>.environments.<name>.land": false, // as environments.<name>.land
		"environments.<name>.after.<parent>.healthy":   true,
		"environments.<name>.health.argocd":            true,
		"environments.<name>.mirrors":                  true,
		"verify":                                       true,
		"environments.<name>.verify":                   false,
		"x-*":                                          false,
	} {
		if got := bytes.Contains(page, []byte("# `"+heading+"`\n")); got != want {
			t.Errorf("heading of %s: %t, want %t", heading, got, want)
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
