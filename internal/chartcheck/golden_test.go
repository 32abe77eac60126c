package chartcheck

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the chart makes as what is wanted")

// What the chart makes of each value file stands beside it, so that a change of the
// chart shows what it changes. -update writes the files anew; .ci/run
// holds them against helm itself.
func TestRendered(t *testing.T) {
	t.Parallel()
	for name, file := range cases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := mustRender(t, file)
			golden(t, name+".golden.yaml", out.text)
			golden(t, name+".notes.txt", out.notes)
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join(folder, "ci", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got), -update takes it over:\n%s", name, diff)
	}
}
