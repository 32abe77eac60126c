package config

import (
	"os"
	"reflect"
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
		loaded, problems := loadBlock(block[1])
		if !loaded {
			t.Errorf("a block does not load:\n%s\n%s", problems, block[1])
		}
	}
}

func loadBlock(block []byte) (bool, Problems) {
	if strings.HasPrefix(string(block), "# promoter-server.yaml") {
		server, problems := LoadServer("block", block, func(string) (string, bool) { return "", false })
		return server != nil, problems
	}
	c, problems := Load("block", block)
	return c != nil, problems
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
	for _, root := range []any{rawConfig{}, rawServer{}} {
		for _, raw := range rawTypes(reflect.TypeOf(root), nil) {
			for i := range raw.NumField() {
				key, tagged := raw.Field(i).Tag.Lookup("yaml")
				if tagged && key != extensionKeys && !named[key] {
					t.Errorf("the key %s of %s is not in %s", key, raw.Name(), docsFile)
				}
			}
		}
	}
}

// TestDocs_variables makes sure that the table of variables is that of the code.
func TestDocs_variables(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range variables() {
		if !strings.Contains(string(text), "| `"+v.name+"` | `"+v.key+"`") {
			t.Errorf("the variable %s for %s is not in the table", v.name, v.key)
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
