package workspace

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/benchtree"
	"promoter/internal/benchworld"
	"promoter/internal/config"
	"promoter/internal/serverfile"
)

// newPlumbing clones a repository for the counterpart of promoter.
func newPlumbing(b *testing.B, url, form string) *benchworld.Plumbing {
	b.Helper()
	p, err := benchworld.NewPlumbing(b.Context(), url, b.TempDir(), eventImage(), benchtree.Full().Environments)
	if err != nil {
		b.Fatal(err)
	}
	if form == "loose" {
		loosen(b, p.Clone)
	}
	return p
}

// gitWith runs Git with something to read.
func gitWith(b *testing.B, dir string, input io.Reader, args ...string) {
	b.Helper()
	command := exec.CommandContext(b.Context(), "git", args...)
	command.Dir, command.Env, command.Stdin = dir, gitEnv(), input
	if out, err := command.CombinedOutput(); err != nil {
		b.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// quietGit keeps Git from tidying up in the background.
func quietGit(b *testing.B, repository string) {
	b.Helper()
	for _, setting := range []string{"gc.auto=0", "receive.autogc=false", "maintenance.auto=false"} {
		key, value, _ := strings.Cut(setting, "=")
		runGit(b, repository, "config", key, value)
	}
}

// makeOrigin makes a bare repository with the files and a config on main.
func makeOrigin(b *testing.B, origin string, size benchtree.Size, form string) {
	b.Helper()
	runGit(b, "", "init", "-q", "--bare", "-b", "main", origin)
	quietGit(b, origin)
	runGit(b, origin, "config", "uploadpack.allowFilter", "true")
	runGit(b, origin, "config", "http.receivepack", "true")
	var stream bytes.Buffer
	fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter ann <ann@example.com> %d +0000\ndata 5\nbegin\n", time.Now().Unix())
	put := func(name, content string) {
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", name, len(content), content)
	}
	put(config.FileName, eventConfig())
	for file := range size.Files() {
		put(file.Path, string(file.Content))
	}
	gitWith(b, origin, &stream, "fast-import", "--quiet")
	runGit(b, origin, "repack", "-qadb")
	if form == "loose" {
		loosen(b, origin)
	}
}

// eventConfig follows all images of the tree in five environments that follow no
// other.
func eventConfig() string {
	var text strings.Builder
	text.WriteString("version: 1\ncomponents:\n  all: {image: registry.example.com/team-*/**, select: {semver: '>=1'}}\nenvironments:\n")
	for i := range benchtree.Full().Environments {
		fmt.Fprintf(&text, "  env-%[1]d: {paths: ['apps/{application}/overlays/env-%[1]d'], land: push}\n", i)
	}
	return text.String()
}

// loosen makes every object of a repository a file of its own.
func loosen(b *testing.B, repository string) {
	b.Helper()
	packs, err := filepath.Glob(filepath.Join(repository, "objects", "pack", "*"))
	if err != nil {
		b.Fatal(err)
	}
	aside := b.TempDir()
	for _, name := range packs {
		moved := filepath.Join(aside, filepath.Base(name))
		if err := os.Rename(name, moved); err != nil {
			b.Fatal(err)
		}
		if filepath.Ext(name) != ".pack" {
			continue
		}
		pack, err := os.Open(moved)
		if err != nil {
			b.Fatal(err)
		}
		gitWith(b, repository, pack, "unpack-objects", "-q")
		if err := pack.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// workspaceOverHTTP opens the workspace of a repository of a server on loopback.
func workspaceOverHTTP(b *testing.B, base, name string) *Workspace {
	b.Helper()
	file := filepath.Join(b.TempDir(), "server.yaml")
	text := fmt.Sprintf("version: 1\nforges:\n  git: {kind: git, url: %q, insecure: true}\nrepositories:\n  - {forge: git, name: %s}\nnetworks: [127.0.0.0/8]\n", base, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return workspaceOf(b, serverfile.Options{Config: file, Env: noEnv, Now: time.Now})
}

// gitServer counts the time in which it has a request to answer.
type gitServer struct {
	backend cgi.Handler
	busy    atomic.Int64 // nanoseconds
}

// ServeHTTP implements http.Handler.
func (s *gitServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	s.backend.ServeHTTP(w, r)
	s.busy.Add(int64(time.Since(begin)))
}

// time is how long it has worked so far.
func (s *gitServer) time() time.Duration {
	if s == nil {
		return 0
	}
	return time.Duration(s.busy.Load())
}

// serveGit serves the repositories of a folder as Git itself does.
func serveGit(b *testing.B, dir string) (string, *gitServer) {
	b.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		b.Fatal(err)
	}
	served := &gitServer{backend: cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: dir, Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=ann"},
	}}
	server := httptest.NewServer(served)
	b.Cleanup(server.Close)
	return server.URL, served
}

// somebodyPushes adds a commit that changes one file of another application.
func somebodyPushes(b *testing.B, origin string, n int) {
	b.Helper()
	var stream bytes.Buffer
	content := fmt.Sprintf("kind: ConfigMap\ndata: {commit: \"%d\"}\n", n)
	fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter ann <ann@example.com> %d +0000\ndata 1\nm\nfrom refs/heads/main^0\n", time.Now().Unix())
	fmt.Fprintf(&stream, "M 100644 inline apps/service-0011/overlays/env-1/patch.yaml\ndata %d\n%s\n", len(content), content)
	gitWith(b, origin, &stream, "fast-import", "--quiet")
}
