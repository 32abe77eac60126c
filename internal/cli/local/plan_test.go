package local

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/cli/console"
	"promoter/internal/cli/console/consoletest"
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
	dir := consoletest.Folder(t, files)
	c := consoletest.New()
	if code := c.Run(t.Context(), NewPlan, "--dir", dir, "--with", "quay.io/acme/web:2", "-o", "diff"); code != console.ExitDone {
		t.Fatalf("exit %d: %s", code, c.Err.String())
	}
	runGit(t, dir, "", "init", "-q")
	runGit(t, dir, c.Out.String(), "apply", "-")
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

// A person who typed --with - and thinks better of it is not kept waiting.
func TestInterrupted_whileReadingTheList(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	reading, hold := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(hold) })
	c := consoletest.New()
	c.System.In = readerFunc(func([]byte) (int, error) {
		close(reading)
		<-hold
		return 0, io.EOF
	})
	go func() {
		<-reading
		cancel()
	}()
	if code := c.Run(ctx, NewPlan, "--dir", consoletest.Folder(t, map[string]string{"app.yaml": "image: quay.io/acme/web:1\n"}), "--with", "-"); code != console.ExitSignal {
		t.Errorf("exit %d: %s", code, c.Err.String())
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// On a terminal the line is gone before the first word.
func TestProgress_isClearedBeforeErrors(t *testing.T) {
	t.Parallel()
	dir := consoletest.Folder(t, map[string]string{
		".promoter.yaml": "version: 1\ncomponents:\n  web: {image: 127.0.0.1:1/acme/web, select: {semver: \">=1\"}}\nenvironments:\n  dev: {}\n",
		"app.yaml":       "image: 127.0.0.1:1/acme/web:1\n",
	})
	c := consoletest.New()
	c.System.ErrTerminal = true
	if code := c.Run(t.Context(), NewPlan, "--dir", dir); code != console.ExitFailed {
		t.Errorf("exit %d", code)
	}
	head, words, found := strings.Cut(c.Err.String(), "querying registries 1/1\r\x1b[K")
	if !found || head != "\r\x1b[K" || !strings.HasPrefix(words, "promoter: web: ") || strings.Contains(words, "\x1b") {
		t.Errorf("%q", c.Err.String())
	}
}
