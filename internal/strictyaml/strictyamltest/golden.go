// Package strictyamltest has what the tests of both config files share: golden files of
// problems, and the generation of JSON Schemas from raw types.
package strictyamltest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/strictyaml"
)

// Files returns the files that match a pattern, of which there must be some.
func Files(t testing.TB, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return found
}

// Golden compares problems with NAME.problems next to the file; no such file means that
// there are none. With update it writes the golden file.
func Golden(t *testing.T, file string, problems strictyaml.Problems, update bool) {
	t.Helper()
	name := strings.TrimSuffix(file, ".yaml") + ".problems"
	got := problems.String()
	if got != "" {
		got += "\n"
	}
	if update {
		err := os.Remove(name)
		if got != "" {
			err = os.WriteFile(name, []byte(got), 0o644)
		}
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got, go test -update writes it):\n%s", name, diff)
	}
}
