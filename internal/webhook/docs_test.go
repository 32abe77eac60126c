package webhook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/receiver"
)

// Every kind that a file may name is one that there is, and the other way round.
func TestKinds_areThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "config", "promoter-server.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Definitions map[string]struct {
			Properties map[string]struct {
				Enum []string `json:"enum"`
			} `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	found := false
	for name, definition := range schema.Definitions {
		if !strings.Contains(strings.ToLower(name), "receiver") {
			continue
		}
		found = true
		kinds := definition.Properties["kind"].Enum
		slices.Sort(kinds)
		if diff := cmp.Diff(receiver.Names(), kinds); diff != "" {
			t.Errorf("(-senders +schema):\n%s", diff)
		}
	}
	if !found {
		t.Error("the schema has no receivers")
	}
}

// Every kind has a row in the table of docs/webhooks.md and a section with the setup and a
// link to the documentation of the sender. There is no section about an unknown kind.
func TestKinds_areDocumented(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "webhooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(data), "\n## Setting them up\n")
	page, _, _ = strings.Cut(page, "\n## ")
	var parts []string
	for _, part := range strings.Split(page, "\n### ")[1:] {
		name := regexp.MustCompile("^`([a-z]+)`: ").FindStringSubmatch(part)
		if name == nil {
			t.Errorf("no kind has the part %q", strings.SplitN(part, "\n", 2)[0])
			continue
		}
		parts = append(parts, name[1])
		if !regexp.MustCompile(`\]\(https://[^)]+\)`).MatchString(part) {
			t.Errorf("the part about %s names no page of its sender", name[1])
		}
	}
	if diff := cmp.Diff(receiver.Names(), parts); diff != "" {
		t.Errorf("parts (-senders +docs):\n%s", diff)
	}
	var rows []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|").FindAllStringSubmatch(string(data), -1) {
		if row[1] != "kind" { // the head of the table
			rows = append(rows, row[1])
		}
	}
	if diff := cmp.Diff(receiver.Names(), rows); diff != "" {
		t.Errorf("lines (-senders +docs):\n%s", diff)
	}
}

// The entries that docs/webhooks.md shows are valid, and make receivers.
func TestKinds_examplesAreValid(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "webhooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for _, found := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(data), -1) {
		_, entries, is := strings.Cut("\n"+found[1], "\nreceivers:\n")
		if !is {
			continue
		}
		examples++
		text := fmt.Sprintf("version: 1\nforges: {github: {kind: github, token: \"env:A\"}}\nrepositories: [{forge: github, name: acme/gitops}]\nreceivers:\n%s", entries)
		file, problems := serverconfig.Load("promoter-server.yaml", []byte(text), os.LookupEnv)
		if len(problems) > 0 || len(file.Receivers) != 1 {
			t.Errorf("the example has problems: %v\n%s", problems, found[1])
			continue
		}
		if kind := file.Receivers[0].Kind; !slices.Contains(receiver.Names(), kind) {
			t.Errorf("an example of %s", kind)
		}
	}
	if examples < 7 {
		t.Errorf("only %d examples", examples)
	}
}
