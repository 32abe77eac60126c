package demo

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

// local moves the branches in the repository itself.
func (h *hub) local(_ context.Context, commands []*packp.Command) error {
	for _, command := range commands {
		if command.Name == "refs/heads/closed" {
			return errors.New("this branch is closed")
		}
		if command.Action() == packp.Delete {
			if err := h.repository.Storer.RemoveReference(command.Name); err != nil {
				return err
			}
			continue
		}
		if err := h.repository.Storer.SetReference(plumbing.NewHashReference(command.Name, command.New)); err != nil {
			return err
		}
	}
	return nil
}

// served returns a repository that is served over HTTP, and its URL.
func served(t *testing.T, bring func(context.Context) error) (*hub, string) {
	t.Helper()
	h, err := newHub(filepath.Join(t.TempDir(), "served.git"))
	if err != nil {
		t.Fatal(err)
	}
	git := gitServer{storer: h.repository.Storer, bring: bring, push: h.local}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /r.git/info/refs", git.infoRefs)
	routes.HandleFunc("POST /r.git/git-upload-pack", git.uploadPack)
	routes.HandleFunc("POST /r.git/git-receive-pack", git.receivePack)
	server := httptest.NewServer(routes)
	t.Cleanup(server.Close)
	return h, server.URL + "/r.git"
}

func quiet(context.Context) error { return nil }

// realGit runs the git command in a folder.
func realGit(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=ann", "-c", "user.email=ann@example.com"}, args...)...)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	said, err := command.CombinedOutput()
	return string(said), err
}

// TestRealGitClonesAndPushes runs the git command against the server.
func TestRealGitClonesAndPushes(t *testing.T) {
	t.Parallel()
	_, url := served(t, quiet)
	dir := t.TempDir()
	run := func(in string, args ...string) string {
		t.Helper()
		said, err := realGit(t, filepath.Join(dir, in), args...)
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, said)
		}
		return said
	}
	run("", "init", "-q", "-b", "main", "ann")
	run("ann", "remote", "add", "origin", url)
	for _, content := range []string{"1", "2", strings.Repeat("3\n", 4000)} {
		if err := os.WriteFile(filepath.Join(dir, "ann", "a.yaml"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		run("ann", "add", ".")
		run("ann", "commit", "-q", "-m", "Change it")
	}
	run("ann", "push", "-q", "origin", "main~1:refs/heads/main")
	run("", "clone", "-q", url, "bob")
	run("ann", "push", "-q", "origin", "main", "main~1:refs/heads/other")
	run("bob", "pull", "-q")
	if got, want := run("bob", "rev-parse", "HEAD"), run("ann", "rev-parse", "HEAD"); got != want {
		t.Errorf("bob has %s, ann %s", got, want)
	}
	run("bob", "push", "-q", "origin", ":other")
	if refs := run("ann", "ls-remote", "--heads", "origin"); strings.Count(refs, "\n") != 1 {
		t.Errorf("the branches are\n%s", refs)
	}
	if said, err := realGit(t, filepath.Join(dir, "ann"), "push", "origin", "main:refs/heads/closed"); err == nil || !strings.Contains(said, "this branch is closed") {
		t.Errorf("a refused push: %v\n%s", err, said)
	}
}

// TestALongRequestMayBeCompressed sends a compressed request, as git does for
// long ones.
func TestALongRequestMayBeCompressed(t *testing.T) {
	t.Parallel()
	h, url := served(t, quiet)
	ann, err := newPerson("ann", t.TempDir(), h, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	id, err := ann.push(t.Context(), tree{"a": "1"}, "Begin")
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, "0032want "+id+"\n0000"+"0032have "+strings.Repeat("1", 40)+"\n0009done\n")
	_ = w.Close()
	for body, want := range map[string]string{packed.String(): "0008NAK\nPACK", "this is no gzip": "gzip: invalid header"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/git-upload-pack", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Encoding", "gzip")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || !strings.HasPrefix(string(said), want) {
			t.Errorf("%d: %q, %v, want %q", response.StatusCode, said, err, want)
		}
	}
}

func TestWhatIsNoGitIsRefused(t *testing.T) {
	t.Parallel()
	broken := func(context.Context) error { return errors.New("the forge is gone") }
	_, url := served(t, broken)
	tests := []struct {
		method, path, body string
		status             int
		said               string
	}{
		{"GET", "/info/refs", "", http.StatusForbidden, `"" is no service of Git`},
		{"GET", "/info/refs?service=git-upload-archive", "", http.StatusForbidden, "is no service of Git"},
		{"GET", "/info/refs?service=git-upload-pack", "", http.StatusBadGateway, "the forge is gone"},
		{"POST", "/git-upload-pack", "hello", http.StatusBadRequest, ""},
		{"POST", "/git-receive-pack", "hello", http.StatusBadRequest, ""},
	}
	for _, test := range tests {
		request, err := http.NewRequestWithContext(t.Context(), test.method, url+test.path, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		said := new(strings.Builder)
		_ = response.Write(said)
		_ = response.Body.Close()
		if response.StatusCode != test.status || !strings.Contains(said.String(), test.said) {
			t.Errorf("%s %s: %s", test.method, test.path, said)
		}
	}
}
