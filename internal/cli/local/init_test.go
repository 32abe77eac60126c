package local_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
	"promoter/internal/cli/local"
)

// run runs a command as a user would.
func run(t *testing.T, command func(console.System) *cobra.Command, args ...string) (code int, out, messages string) {
	t.Helper()
	c := consoletest.New()
	code = c.Run(t.Context(), command, args...)
	return code, c.Out.String(), c.Err.String()
}

func TestInit_writesOnce(t *testing.T) {
	t.Parallel()
	dir := consoletest.Folder(t, map[string]string{"dev/web.yaml": "image: quay.io/acme/web:1.2.0\n", "prod/web.yaml": "image: quay.io/acme/web:1.1.0\n"})
	code, out, words := run(t, newInit, "--dir", dir)
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
	code, out, words = run(t, newInit, "--dir", dir)
	again, err := os.ReadFile(file)
	if code != 1 || out != "" || err != nil || !strings.Contains(words, "exists and is not overwritten") || !bytes.Equal(again, written) {
		t.Errorf("the second time: exit %d, %v\n%s%s", code, err, out, words)
	}
	if code, _, words = run(t, local.NewValidate, "--dir", dir); code != 0 {
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
	dir := consoletest.Folder(t, files)
	code, out, words := run(t, newInit, "--dir", dir, "-o", "-")
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
	dir := consoletest.Folder(t, map[string]string{"web.yaml": "image: quay.io/acme/web:1.2.0\n", ".promoter.yaml": "version: 1\n"})
	file := filepath.Join(dir, "suggested.yaml")
	if code, _, words := run(t, newInit, "--dir", dir, "-o", file); code != 0 {
		t.Fatalf("exit %d\n%s", code, words)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestInit_nothingToFollow(t *testing.T) {
	t.Parallel()
	dir := consoletest.Folder(t, map[string]string{"a.yaml": "command: redis:6379\n"})
	code, out, words := run(t, newInit, "--dir", dir)
	if code != 1 || out != "" || !strings.Contains(words, "no image reference was found in 1 file") || !strings.Contains(words, "needs at least one") {
		t.Errorf("exit %d\n%s%s", code, out, words)
	}
	if code, _, words = run(t, newInit, "--dir", filepath.Join(dir, "absent")); code != 1 || strings.Contains(words, "image reference") {
		t.Errorf("a folder that is not there: exit %d\n%s", code, words)
	}
}

// newInit is the command of a build that names no published schema.
func newInit(system console.System) *cobra.Command { return local.NewInit(system, "") }
