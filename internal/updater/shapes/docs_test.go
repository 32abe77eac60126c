package shapes

import (
	"os"
	"strings"
	"testing"
)

// TestShapes_documented checks that the list in docs/writing.md is current.
func TestShapes_documented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/writing.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.SplitSeq(string(page), "\n") {
		if name, found := strings.CutPrefix(line, "| `"); found {
			name, _, _ = strings.Cut(name, "`")
			listed[name] = true
		}
	}
	names := []string{string(shapeTemplate), string(shapeMarker), string(shapeWrite)}
	for _, shape := range knownShapes() {
		names = append(names, string(shape.name))
	}
	for _, name := range names {
		if !listed[name] {
			t.Errorf("docs/writing.md has no line for %s", name)
		}
	}
}
