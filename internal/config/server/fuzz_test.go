package serverconfig_test

import (
	"os"
	"path/filepath"
	"testing"

	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
)

func seeds(f *testing.F) {
	f.Helper()
	for _, pattern := range []string{"testdata/*/*.yaml", "../../../config/examples/*.yaml"} {
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
	f.Fuzz(func(t *testing.T, data []byte) {
		server, problems := serverconfig.Load("f.yaml", data, noEnv)
		if data != nil {
			checkProblems(t, server != nil, problems)
		}
	})
}
