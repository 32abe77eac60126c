package checkout_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/checkout"
	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/suggest"
)

// TestSuggest_golden compares the config and the guesses for whole trees. Each
// config must also be one that loads where it is written to.
func TestSuggest_golden(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("../../testdata/init/*/tree")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases (%v)", err)
	}
	for _, tree := range cases {
		dir := filepath.Dir(tree)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			suggestion, err := checkout.Suggest(t.Context(), tree, "")
			if err != nil {
				t.Fatal(err)
			}
			compare(t, filepath.Join(dir, "want.yaml"), suggestion.Text)
			compare(t, filepath.Join(dir, "guesses"), guesses(suggestion))
			into := t.TempDir()
			if err := checkout.WriteConfig(filepath.Join(into, config.FileName), suggestion.Text); err != nil {
				t.Fatal(err)
			}
			if _, problems, err := checkout.Validate(into); err != nil || len(problems) > 0 {
				t.Errorf("the written config: %v %v", problems, err)
			}
		})
	}
}

var update = flag.Bool("update", false, "write the suggestions of testdata/init")

// compare compares a text with a golden file.
func compare(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, filepath.Dir(file), filepath.Base(file)), text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// guesses writes each guess with its positions and advice on lines of their own.
func guesses(s *suggest.Suggestion) string {
	var b strings.Builder
	for _, g := range s.Guesses {
		text, positions, advice := g.Lines()
		fmt.Fprintln(&b, text)
		for _, p := range positions {
			fmt.Fprintf(&b, "  %s\n", p)
		}
		fmt.Fprintf(&b, "  -> %s\n", advice)
		if g.More > 0 {
			fmt.Fprintf(&b, "  and %d more of the same kind\n", g.More)
		}
	}
	return b.String()
}

func TestSuggest_nothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("name: web\nport: redis:6379\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{dir, filepath.Join(dir, "absent")} {
		if _, err := checkout.Suggest(t.Context(), where, ""); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: %v", where, err)
		}
	}
	if _, err := checkout.Suggest(t.Context(), filepath.Join(dir, "a.yaml"), ""); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a file for a folder: %v", err)
	}
}

func TestWriteConfig_overwritesNothing(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), config.FileName)
	if err := checkout.WriteConfig(name, "first"); err != nil {
		t.Fatal(err)
	}
	if err := checkout.WriteConfig(name, "second"); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), name) {
		t.Errorf("writing twice: %v", err)
	}
	if text := read(t, filepath.Dir(name), config.FileName); text != "first" {
		t.Errorf("the file holds %q", text)
	}
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v (%v)", entries, err)
	}
}

func TestWriteConfig_needsTheFolder(t *testing.T) {
	t.Parallel()
	if err := checkout.WriteConfig(filepath.Join(t.TempDir(), "absent", config.FileName), ""); err == nil {
		t.Error("written into a folder that is not there")
	}
}
