package github_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm/github"
)

var update = flag.Bool("update", false, "rewrite the table of docs/github.md")

// The tables of the page match those in code.
func TestPage_tables(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "..", "docs", "github.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for name, want := range map[string]string{"permissions": permissionTable(), "events": eventTable()} {
		begin, end := "<!-- "+name+" -->\n\n", "\n<!-- /"+name+" -->"
		before, rest, found := strings.Cut(text, begin)
		table, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s has no place for the table of %s", file, name)
		}
		if diff := cmp.Diff(want, table); diff != "" && !*update {
			t.Errorf("run go test ./internal/scm/github -run Page_tables -update:\n%s", diff)
		}
		text = before + begin + want + end + after
	}
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func permissionTable() string {
	var table strings.Builder
	table.WriteString("| permission | access | needed for | when | requested |\n|---|---|---|---|---|\n")
	for _, p := range github.Permissions() {
		access, when, asked := "read-only", "always", "yes"
		if p.Access == "write" {
			access = "read and write"
		}
		if p.Optional != "" {
			when = "if " + p.Optional
		}
		if p.OnRequest {
			asked = "`--with " + p.Name + "`"
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", p.Title, access, p.For, when, asked)
	}
	return table.String()
}

func eventTable() string {
	titles := map[string]string{}
	for _, p := range github.Permissions() {
		titles[p.Name] = p.Title
	}
	var table strings.Builder
	table.WriteString("| event | required permission | what happened |\n|---|---|---|\n")
	for _, e := range github.Events() {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", e.Name, titles[e.Permission], e.For)
	}
	return table.String()
}

func TestPermitted_grants(t *testing.T) {
	t.Parallel()
	held := github.Permitted{"contents": "write", "checks": "read", "administration": "admin", "odd": "none"}
	for _, test := range []struct {
		name, access string
		want         bool
	}{
		{"contents", "read", true},
		{"contents", "write", true},
		{"checks", "read", true},
		{"checks", "write", false},
		{"administration", "write", true},
		{"statuses", "read", false},
		{"odd", "read", false},
	} {
		if got := held.Grants(github.Permission{Name: test.name, Access: test.access}); got != test.want {
			t.Errorf("%s %s: %t", test.name, test.access, got)
		}
	}
}
