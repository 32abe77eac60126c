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

var update = flag.Bool("update", false, "write the table of docs/github.md anew")

// TestPermissionsPage compares the table of the page with that in code.
func TestPermissionsPage(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "..", "docs", "github.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- permissions -->\n\n", "\n<!-- /permissions -->"
	before, rest, found := strings.Cut(string(page), begin)
	table, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table", file)
	}
	want := permissionTable()
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, table); diff != "" {
		t.Errorf("run go test ./internal/scm/github -run Permissions -update:\n%s", diff)
	}
}

func permissionTable() string {
	var table strings.Builder
	table.WriteString("| permission | access | what for | when |\n|---|---|---|---|\n")
	for _, p := range github.Permissions() {
		access, when := "read-only", "always"
		if p.Access == "write" {
			access = "read and write"
		}
		if p.Optional != "" {
			when = "if " + p.Optional
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", p.Title, access, p.For, when)
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
