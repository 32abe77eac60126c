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

// The rendered chart for each value file is stored next to it, so that the
// effect of a chart change is visible. -update writes the files again; .ci/run
// compares them with the output of helm.
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
	want, err := os.ReadFile(file)
	if err == nil && string(want) == got {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got), -update takes it over:\n%s", name, diff)
	}
}
