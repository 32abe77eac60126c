package layers

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheArchitecturePageHasTheSameTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]int{}, map[string]int{}
	for pkg, at := range table {
		if !at.support {
			want[pkg] = at.layer
		}
	}
	row := regexp.MustCompile("(?m)^\\| ([0-9]+) \\| `([^`]+)` \\| .+ \\|$")
	for _, found := range row.FindAllStringSubmatch(string(text), -1) {
		layer, err := strconv.Atoi(found[1])
		if err != nil {
			t.Fatal(err)
		}
		got[found[2]] = layer
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("layers (-table +docs/architecture.md):\n%s", diff)
	}
}

func TestTheTableListsOnlyPackagesWithCode(t *testing.T) {
	t.Parallel()
	sources, err := readSources(os.DirFS(filepath.Join("..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	code := map[string]bool{}
	for _, one := range sources {
		code[one.pkg()] = true
	}
	for pkg := range table {
		if !code[pkg] {
			t.Errorf("the table lists %s, which has no code", pkg)
		}
	}
}
