package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/cli"
)

// tree writes files that hold images and returns their folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// run runs the command line as a person would.
func run(t *testing.T, args ...string) (code int, out, words string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	system := cli.System{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Env: os.LookupEnv}
	code = cli.Main(t.Context(), args, system)
	return code, stdout.String(), stderr.String()
}

func TestInit_writesOnce(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"dev/web.yaml": "image: quay.io/acme/web:1.2.0\n", "prod/web.yaml": "image: quay.io/acme/web:1.1.0\n"})
	code, out, words := run(t, "init", "--dir", dir)
	file := filepath.Join(dir, ".promoter.yaml")
	written, err := os.ReadFile(file)
	if code != 0 || out != "" || err != nil || !strings.Contains(string(written), "\nversion: 1\n") {
		t.Fatalf("exit %d, %v\n%s%s%s", code, err, out, words, written)
	}
	for _, want := range []string{"wrote " + file + ": 1 component, 2 environments\n", "promoter validate --dir " + dir, "promoter plan --dir " + dir} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not said:\n%s", want, words)
		}
	}
	code, out, words = run(t, "init", "--dir", dir)
	again, err := os.ReadFile(file)
	if code != 1 || out != "" || err != nil || !strings.Contains(words, "exists and is not overwritten") || !bytes.Equal(again, written) {
		t.Errorf("the second time: exit %d, %v\n%s%s", code, err, out, words)
	}
	if code, _, words = run(t, "validate", "--dir", dir); code != 0 {
		t.Errorf("validate: exit %d\n%s", code, words)
	}
}

func TestInit_shows(t *testing.T) {
	t.Parallel()
	own := "images: [{name: quay.io/acme/own, newTag: 1.2.0}]\n"
	files := map[string]string{"dev/kustomization.yaml": own, "prod/kustomization.yaml": own}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		files["base/"+name+".yaml"] = "image: quay.io/acme/" + name + ":1.2.0\n"
	}
	dir := tree(t, files)
	code, out, words := run(t, "init", "--dir", dir, "-o", "-")
	if code != 0 || !strings.Contains(out, "\nversion: 1\n") || !strings.Contains(words, "nothing was written") {
		t.Fatalf("exit %d\n%s%s", code, out, words)
	}
	if _, err := os.Stat(filepath.Join(dir, ".promoter.yaml")); err == nil {
		t.Error("a file was written")
	}
	for _, want := range []string{"     base/e.yaml:1:8\n     and 2 more\n", "     -> let each environment set its own version"} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not said:\n%s", want, words)
		}
	}
	if strings.Contains(words, "base/f.yaml") {
		t.Errorf("more than five places are listed:\n%s", words)
	}
}

func TestInit_anotherFile(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"web.yaml": "image: quay.io/acme/web:1.2.0\n", ".promoter.yaml": "version: 1\n"})
	file := filepath.Join(dir, "suggested.yaml")
	if code, _, words := run(t, "init", "--dir", dir, "-o", file); code != 0 {
		t.Fatalf("exit %d\n%s", code, words)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestInit_nothingToFollow(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.yaml": "command: redis:6379\n"})
	code, out, words := run(t, "init", "--dir", dir)
	if code != 1 || out != "" || !strings.Contains(words, "no image reference was found in 1 file") || !strings.Contains(words, "needs at least one") {
		t.Errorf("exit %d\n%s%s", code, out, words)
	}
	if code, _, words = run(t, "init", "--dir", filepath.Join(dir, "absent")); code != 1 || strings.Contains(words, "image reference") {
		t.Errorf("a folder that is not there: exit %d\n%s", code, words)
	}
}
