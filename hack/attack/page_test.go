package attack

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The page of attacks has a row for each attack that runs, and no other.
func TestAttacks_areTheRowsOfThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operate/attacks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Beside a victim\n")
	section, _, ends := strings.Cut(section, "\n## ")
	if !found || !ends {
		t.Fatal("the page has no such section")
	}
	rows, run := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, " | ")
		if name := strings.TrimPrefix(cells[0], "| "); len(cells) == 4 && name != "attack" {
			rows[name] = true
		}
	}
	for _, one := range attacks() {
		run[one.name] = true
	}
	if diff := cmp.Diff(rows, run); diff != "" {
		t.Errorf("(-rows of the page +attacks that run):\n%s", diff)
	}
}
