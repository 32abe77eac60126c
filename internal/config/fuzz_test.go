package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"promoter/internal/config"
	"promoter/internal/config/field"
	"promoter/internal/image"
)

func seeds(f *testing.F) {
	f.Helper()
	for _, pattern := range []string{"testdata/*/*.yaml", "../../config/examples/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no files %s: %v", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
}

// checkProblems holds for whatever was loaded: something came back, and every
// problem has a place and words.
func checkProblems(t *testing.T, loaded bool, problems config.Problems) {
	t.Helper()
	if loaded == (problems.Err() != nil) {
		t.Fatalf("loaded = %t with %v", loaded, problems)
	}
	if len(problems) > 100 {
		t.Fatalf("%d problems", len(problems))
	}
	for _, p := range problems {
		if p.Line < 1 || p.Column < 1 || p.Message == "" || len(p.Message) > 600 {
			t.Fatalf("a problem without a place or with too many words: %+v", p)
		}
	}
}

func FuzzLoad(f *testing.F) {
	seeds(f)
	r, err := image.ParseRepository("quay.io/acme/web")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, problems := config.Load("f.yaml", data)
		checkProblems(t, c != nil, problems)
		if c == nil {
			return
		}
		if len(c.Order()) != len(c.Environments) {
			t.Fatalf("order %v of %d environments", c.Order(), len(c.Environments))
		}
		for i := range c.Environments {
			useAll(t, c, &c.Environments[i], r)
		}
	})
}

// useAll calls what others call with a loaded file.
func useAll(t *testing.T, c *config.Config, e *config.Environment, r image.Repository) {
	t.Helper()
	for _, path := range append([]string{"a/b/c.yaml", "a"}, e.Paths...) {
		if application, ok := e.Match(path); ok && !field.ValidName(application) {
			t.Fatalf("application %q", application)
		}
	}
	for _, a := range append(c.Applications, config.Application{Name: config.DefaultApplication}) {
		c.Application(a.Name)
		if got := c.Settings(e.Name, a.Name); got.Name != e.Name || got.Propose == "" || got.Land == "" || got.Newer == "" {
			t.Fatalf("settings %+v", got)
		}
		c.Follow(e.Name, a.Name, r)
	}
}
