package githttp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/memory"

	"promoter/internal/demo/githttp"
)

// serve serves a new repository over HTTP and returns its URL. Pushes to the branch
// closed are rejected.
func serve(t *testing.T, refresh func(context.Context) error) string {
	t.Helper()
	return serveStored(t, memory.NewStorage(), refresh)
}

func serveStored(t *testing.T, storer storage.Storer, refresh func(context.Context) error) string {
	t.Helper()
	if err := storer.SetReference(plumbing.NewSymbolicReference(plumbing.HEAD, plumbing.Main)); err != nil {
		t.Fatal(err)
	}
	push := func(_ context.Context, commands []*packp.Command) error {
		for _, command := range commands {
			var err error
			switch {
			case command.Name == "refs/heads/closed":
				err = errors.New("this branch is closed")
			case command.Action() == packp.Delete:
				err = storer.RemoveReference(command.Name)
			default:
				err = storer.SetReference(plumbing.NewHashReference(command.Name, command.New))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	server := httptest.NewServer(http.StripPrefix("/r.git", &githttp.Server{Storer: storer, Refresh: refresh, Push: push}))
	t.Cleanup(server.Close)
	return server.URL + "/r.git"
}

// git runs the git command in a folder.
func git(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=ann", "-c", "user.email=ann@example.com"}, args...)...)
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	output, err := command.CombinedOutput()
	return string(output), err
}

func mustGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	output, err := git(t, dir, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, output)
	}
	return output
}

// commit creates a clone with a commit for each content of one file.
func commit(t *testing.T, url string, contents ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	mustGit(t, dir, "init", "-q", "-b", "main")
	mustGit(t, dir, "remote", "add", "origin", url)
	for _, content := range contents {
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		mustGit(t, dir, "add", ".")
		mustGit(t, dir, "commit", "-q", "-m", "Change it")
	}
	return dir
}

func TestServer_servesTheGitCommand(t *testing.T) {
	t.Parallel()
	url := serve(t, nil)
	ann, bob := commit(t, url, "1", "2", strings.Repeat("3\n", 4000)), t.TempDir()
	mustGit(t, ann, "push", "-q", "origin", "main~1:refs/heads/main")
	mustGit(t, bob, "clone", "-q", url, ".")
	mustGit(t, ann, "push", "-q", "origin", "main", "main~1:refs/heads/other")
	mustGit(t, bob, "pull", "-q")
	if got, want := mustGit(t, bob, "rev-parse", "HEAD"), mustGit(t, ann, "rev-parse", "HEAD"); got != want {
		t.Errorf("bob has %s, ann %s", got, want)
	}
	mustGit(t, bob, "push", "-q", "origin", ":other")
	if refs := mustGit(t, ann, "ls-remote", "--heads", "origin"); strings.Count(refs, "\n") != 1 {
		t.Errorf("the branches are\n%s", refs)
	}
	if output, err := git(t, ann, "push", "origin", "main:refs/heads/closed"); err == nil || !strings.Contains(output, "this branch is closed") {
		t.Errorf("a rejected push: %v\n%s", err, output)
	}
}

// TestServer_acceptsThinPacks pushes what Git sends as deltas of objects that only the
// server has, several times, and in packs that are larger than Git sends at once.
func TestServer_acceptsThinPacks(t *testing.T) {
	t.Parallel()
	onDisk := filesystem.NewStorage(osfs.New(t.TempDir()), cache.NewObjectLRUDefault())
	for name, storer := range map[string]storage.Storer{"in memory": memory.NewStorage(), "on disk": onDisk} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := serveStored(t, storer, nil)
			ann := commit(t, url, "1")
			mustGit(t, ann, "push", "-q", "-u", "origin", "main")
			random := rand.New(rand.NewPCG(1, 2))
			long := make([]byte, 2<<20) // cannot be compressed
			for i := range long {
				long[i] = byte(random.Uint32())
			}
			files := []string{"a.txt", "b.txt", "sub/c.txt"}
			for push := range 4 {
				for line := range 3 { // several commits with deltas of deltas
					for i, file := range files {
						text := fmt.Sprintf("%s%d %d %d\n", numbers(3000*(i+1)), push, line, i)
						write(t, ann, file, []byte(text))
					}
					mustGit(t, ann, "add", ".")
					mustGit(t, ann, "commit", "-q", "-m", "Change them")
				}
				if push == 2 {
					write(t, ann, "long.bin", long)
					mustGit(t, ann, "add", ".")
					mustGit(t, ann, "commit", "-q", "-m", "Add a large file")
				}
				mustGit(t, ann, "push", "-q")
				mustGit(t, ann, "fetch", "-q")
			}
			bob := t.TempDir()
			if output := mustGit(t, bob, "clone", "-q", url, "."); output != "" {
				t.Errorf("a quiet clone prints\n%s", output)
			}
			mustGit(t, bob, "fsck", "--strict")
			if got, want := mustGit(t, bob, "rev-parse", "HEAD"), mustGit(t, ann, "rev-parse", "HEAD"); got != want {
				t.Errorf("bob has %s, ann %s", got, want)
			}
		})
	}
}

// TestServer_sendsWhatIsNew checks that a second fetch negotiates, also after many commits
// that only the client has.
func TestServer_sendsWhatIsNew(t *testing.T) {
	t.Parallel()
	url := serve(t, nil)
	ann, bob := commit(t, url, "1", "2", "3"), t.TempDir()
	mustGit(t, ann, "push", "-q", "-u", "origin", "main")
	mustGit(t, bob, "clone", "-q", url, ".")
	for i := range 50 {
		mustGit(t, bob, "commit", "-q", "--allow-empty", "-m", fmt.Sprint(i))
	}
	write(t, ann, "b.yaml", []byte("4"))
	mustGit(t, ann, "add", ".")
	mustGit(t, ann, "commit", "-q", "-m", "Add it")
	mustGit(t, ann, "push", "-q")
	mustGit(t, bob, "-c", "fetch.unpackLimit=1", "fetch", "-q") // keeps the pack
	if output := mustGit(t, bob, "count-objects", "-v"); !strings.Contains(output, "in-pack: 3\n") {
		t.Errorf("not only the new commit, tree, and file:\n%s", output)
	}
	mustGit(t, bob, "pull", "-q", "--rebase")
	mustGit(t, bob, "push", "-q")
	mustGit(t, bob, "fsck", "--strict")
}

func numbers(count int) string {
	var text strings.Builder
	for i := range count {
		fmt.Fprintln(&text, i)
	}
	return text.String()
}

func write(t *testing.T, dir, file string, content []byte) {
	t.Helper()
	path := filepath.Join(dir, file)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, content, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// Git compresses long requests.
func TestServer_acceptsACompressedRequest(t *testing.T) {
	t.Parallel()
	url := serve(t, nil)
	ann := commit(t, url, "1")
	mustGit(t, ann, "push", "-q", "origin", "main")
	id := strings.TrimSpace(mustGit(t, ann, "rev-parse", "main"))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, "0032want "+id+"\n0000"+"0032have "+strings.Repeat("1", 40)+"\n0009done\n")
	_ = w.Close()
	for body, want := range map[string]string{packed.String(): "0008NAK\nPACK", "not compressed": "gzip: invalid header"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/git-upload-pack", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Encoding", "gzip")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("%d: %q, %v, want %q", response.StatusCode, text, err, want)
		}
	}
}

func TestServer_rejectsOtherRequests(t *testing.T) {
	t.Parallel()
	url := serve(t, func(context.Context) error { return errors.New("the forge is gone") })
	tests := []struct {
		method, path, body string
		status             int
		message            string
	}{
		{"GET", "/info/refs", "", http.StatusForbidden, `"" is not a service`},
		{"GET", "/info/refs?service=git-upload-archive", "", http.StatusForbidden, "is not a service"},
		{"GET", "/info/refs?service=git-upload-pack", "", http.StatusBadGateway, "the forge is gone"},
		{"POST", "/git-upload-pack", "hello", http.StatusBadRequest, ""},
		{"POST", "/git-receive-pack", "hello", http.StatusBadRequest, ""},
		{"GET", "/HEAD", "", http.StatusNotFound, ""},
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
		text, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != test.status || !strings.Contains(string(text), test.message) {
			t.Errorf("%s %s: %d %s", test.method, test.path, response.StatusCode, text)
		}
	}
}
