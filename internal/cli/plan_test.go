package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Git takes the diff whatever the files are called and however they end.
func TestDiff_gitAppliesIt(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"plain.yaml":              "a: 1\nimage: quay.io/acme/web:1\n",
		"with space.yaml":         "image: quay.io/acme/web:1\n",
		"Grüße/日本.yaml":           "image: quay.io/acme/web:1\n",
		"quo\"te\\.yaml":          "image: quay.io/acme/web:1\n",
		"new\nline\t\x1b ü.yaml":  "image: quay.io/acme/web:1\n",
		"no-newline.yaml":         "image: quay.io/acme/web:1",
		"crlf.yaml":               "a: 1\r\nimage: quay.io/acme/web:1\r\nb: 2\r\n",
		"-dash.yaml":              "image: quay.io/acme/web:1\n",
		"bytes\xff.yaml":          "image: quay.io/acme/web:1 # \xc3\xa4\n",
		"b/a/a.yaml":              "image: quay.io/acme/web:1\n",
		"mixed.yaml":              "a: 1\r\nimage: quay.io/acme/web:1\nb: 2\r\n",
		"ends-without-there.yaml": "image: quay.io/acme/web:1\nx: 1",
	}
	dir := folder(t, files)
	c := newConsole()
	if code := c.run(t.Context(), "plan", "--dir", dir, "--with", "quay.io/acme/web:2", "-o", "diff"); code != exitDone {
		t.Fatalf("exit %d: %s", code, c.err.String())
	}
	runGit(t, dir, "", "init", "-q")
	runGit(t, dir, c.out.String(), "apply", "-")
	for name, content := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if want := strings.ReplaceAll(content, "web:1", "web:2"); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

func runGit(t *testing.T, dir, in string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", args...)
	command.Dir, command.Stdin = dir, strings.NewReader(in)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}
