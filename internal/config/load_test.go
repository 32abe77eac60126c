package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/strictyaml/strictyamltest"
)

// update rewrites what tests compare with: go test ./internal/config -update.
var update = flag.Bool("update", false, "write golden files and schemas")

func load(t *testing.T, file string) (loaded bool, problems config.Problems) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(filepath.Base(file), data)
	return c != nil, problems
}

// examples returns the shipped examples of this file.
func examples(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, file := range strictyamltest.Files(t, "../../config/examples/*.yaml") {
		if !strings.HasPrefix(filepath.Base(file), "server") {
			files = append(files, file)
		}
	}
	return files
}

func TestLoad_examples(t *testing.T) {
	t.Parallel()
	for _, file := range examples(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			if loaded, problems := load(t, file); problems.Err() != nil || !loaded {
				t.Fatalf("does not load: %v", problems.Err())
			}
		})
	}
}

// TestLoad_valid has one file per feature that is allowed, with its warnings.
func TestLoad_valid(t *testing.T) {
	t.Parallel()
	for _, file := range strictyamltest.Files(t, "testdata/valid/*.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			loaded, problems := load(t, file)
			if err := problems.Err(); err != nil || !loaded {
				t.Fatalf("does not load: %v", err)
			}
			strictyamltest.Golden(t, file, problems, *update)
		})
	}
}

// TestLoad_invalid has one file per rule, with its problems.
func TestLoad_invalid(t *testing.T) {
	t.Parallel()
	for _, file := range strictyamltest.Files(t, "testdata/invalid/*.yaml") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			loaded, problems := load(t, file)
			if loaded || fault.KindOf(problems.Err()) != fault.Invalid {
				t.Errorf("loaded = %t, error = %v; want an invalid file", loaded, problems.Err())
			}
			for _, p := range problems {
				if p.Line < 1 || p.Column < 1 || p.Message == "" || p.Hint == "" && p.Severity == config.SeverityError {
					t.Errorf("a problem needs a position, a message and a hint: %+v", p)
				}
			}
			strictyamltest.Golden(t, file, problems, *update)
		})
	}
}
