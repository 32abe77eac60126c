package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/config"
	"promoter/internal/fault"
)

// update rewrites what tests compare with: go test ./internal/config -update.
var update = flag.Bool("update", false, "write golden files and schemas")

// noEnv is an environment without variables.
func noEnv(string) (string, bool) { return "", false }

// load reads a file of either kind by its name: those of the server begin with
// "server".
func load(t *testing.T, file string) (loaded bool, problems config.Problems) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(file)
	if strings.HasPrefix(name, "server") {
		server, problems := config.LoadServer(name, data, noEnv)
		return server != nil, problems
	}
	c, problems := config.Load(name, data)
	return c != nil, problems
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return found
}

// TestLoad_examples loads what we ship.
func TestLoad_examples(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "../../config/examples/*.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			if loaded, problems := load(t, file); problems.Err() != nil || !loaded {
				t.Fatalf("does not load: %v", problems.Err())
			}
		})
	}
}

// TestLoad_valid keeps one file per thing that is allowed, with its warnings.
func TestLoad_valid(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "testdata/valid/*.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			loaded, problems := load(t, file)
			if err := problems.Err(); err != nil || !loaded {
				t.Fatalf("does not load: %v", err)
			}
			golden(t, file, problems)
		})
	}
}

// TestLoad_invalid keeps one file per rule: what is wrong, where, and the words.
func TestLoad_invalid(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "testdata/invalid/*.yaml") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			loaded, problems := load(t, file)
			if loaded || fault.KindOf(problems.Err()) != fault.Invalid {
				t.Errorf("loaded = %t, error = %v; want an invalid file", loaded, problems.Err())
			}
			for _, p := range problems {
				if p.Line < 1 || p.Column < 1 || p.Message == "" || p.Hint == "" && p.Severity == config.SeverityError {
					t.Errorf("a problem needs a place, a message and a hint: %+v", p)
				}
			}
			golden(t, file, problems)
		})
	}
}

// golden compares problems with NAME.problems beside the file; no such file means
// that there are none.
func golden(t *testing.T, file string, problems config.Problems) {
	t.Helper()
	name := strings.TrimSuffix(file, ".yaml") + ".problems"
	got := problems.String()
	if got != "" {
		got += "\n"
	}
	if *update {
		writeGolden(t, name, got)
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

func writeGolden(t *testing.T, name, content string) {
	t.Helper()
	if content == "" {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
