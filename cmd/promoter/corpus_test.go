package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"promoter/internal/cli"
	"promoter/internal/cli/console"
)

// bump is a real commit that changed nothing but versions. The names of its
// fields are the corpus's.
type bump struct {
	Dir    string `json:"dir"`
	Path   string `json:"path"`
	Strict bool   `json:"strict"`
}

// bumpEdit is one line of such a commit.
type bumpEdit struct {
	Kind     string `json:"kind"`
	Image    string `json:"image"`
	NewToken string `json:"new_token"`
}

// TestCorpus_applyWith repeats the strict commits of the corpus by apply --with:
// exactly what the commit made of the file, and wherever not, never other bytes in
// a line that the commit changed.
func TestCorpus_applyWith(t *testing.T) {
	t.Parallel()
	root := os.Getenv("PROMOTER_CORPUS")
	if root == "" {
		t.Skip("PROMOTER_CORPUS names no folder with the corpus of real commits")
	}
	var bumps []bump
	readJSON(t, filepath.Join(root, "bumps", "index.json"), &bumps)
	results := map[string]int{}
	for _, b := range bumps {
		if b.Strict {
			results[repeat(t, filepath.Join(root, "bumps", b.Dir), b.Path)]++
		}
	}
	for _, result := range slices.Sorted(maps.Keys(results)) {
		t.Logf("%4d %s", results[result], result)
	}
	if results["exact"] == 0 {
		t.Error("no commit came out exactly")
	}
}

// repeat makes one commit again and returns the outcome.
func repeat(t *testing.T, folder, path string) string {
	t.Helper()
	before, after := readOnly(t, folder, "before.*"), readOnly(t, folder, "after.*")
	versions, ok := versionsOf(t, folder)
	if !ok {
		return "one image gets two versions"
	}
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.Base(path))
	if err := os.WriteFile(file, before, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"apply", "--dir", dir}
	for _, version := range versions {
		args = append(args, "--with", version)
	}
	var words bytes.Buffer
	cli.Main(t.Context(), args, console.System{In: strings.NewReader(""), Out: io.Discard, Err: &words, Env: os.LookupEnv}, nil)
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case bytes.Equal(got, after):
		return "exact"
	case bytes.Equal(got, before):
		return "left as it is"
	case onlyMore(string(before), string(after), string(got)):
		return "exact, and places of the image that the commit left"
	}
	t.Errorf("%s: %q gives\n%s\nwant\n%s\n%s", folder, versions, got, after, words.String())
	return "wrong"
}

// versionsOf returns what to give to --with; false when one image gets two
// versions, which no command line can say.
func versionsOf(t *testing.T, folder string) ([]string, bool) {
	t.Helper()
	var meta struct {
		Edits []bumpEdit `json:"edits"`
	}
	readJSON(t, filepath.Join(folder, "meta.json"), &meta)
	byImage := map[string]string{}
	for _, e := range meta.Edits {
		version := e.Image + ":" + e.NewToken
		if e.Kind == "digest" {
			version = e.Image + "@sha256:" + e.NewToken
		}
		if known, twice := byImage[e.Image]; twice && known != version {
			return nil, false
		}
		byImage[e.Image] = version
	}
	return slices.Sorted(maps.Values(byImage)), true
}

// onlyMore reports that every line which the commit changed is as in the commit: only lines
// that it left alone differ.
func onlyMore(before, after, got string) bool {
	b, a, g := strings.Split(before, "\n"), strings.Split(after, "\n"), strings.Split(got, "\n")
	if len(b) != len(a) || len(a) != len(g) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && g[i] != a[i] {
			return false
		}
	}
	return true
}

func readOnly(t *testing.T, folder, pattern string) []byte {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: want one %s, got %v", folder, pattern, found)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
}
