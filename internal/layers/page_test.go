package layers

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// TestTheArchitecturePageHasTheSameTable compares docs/architecture.md with the
// table: the same packages and layers, and "now" for exactly those that have
// code.
func TestTheArchitecturePageHasTheSameTable(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	sources, err := readSources(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	code := map[string]bool{}
	for _, one := range sources {
		code[one.pkg()] = true
	}
	listed := pageTable(t, string(text))
	for pkg, stands := range table {
		got, ok := listed[pkg]
		switch {
		case stands.support:
			continue
		case !ok:
			t.Errorf("the page has no line for %s", pkg)
		case got.floor != stands.floor:
			t.Errorf("the page has %s on floor %d, the table on %d", pkg, got.floor, stands.floor)
		case got.now != code[pkg]:
			t.Errorf("the page says that %s is in the tree: %t; it is: %t", pkg, got.now, code[pkg])
		}
	}
	for pkg := range listed {
		if _, ok := table[pkg]; !ok {
			t.Errorf("the page lists %s, which has no floor", pkg)
		}
	}
}

// entry is one line of the table in the page.
type entry struct {
	floor int
	now   bool
}

func pageTable(t *testing.T, text string) map[string]entry {
	t.Helper()
	line := regexp.MustCompile("(?m)^\\| (-?[0-9]+) \\| `([^`]+)` \\| .* \\| (now|later) \\|$")
	listed := map[string]entry{}
	for _, found := range line.FindAllStringSubmatch(text, -1) {
		floor, err := strconv.Atoi(found[1])
		if err != nil {
			t.Fatal(err)
		}
		listed[found[2]] = entry{floor: floor, now: found[3] == "now"}
	}
	return listed
}
