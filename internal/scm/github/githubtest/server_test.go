package githubtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/github/githubtest"
)

// desk is a server with a repository and a token that may write.
type desk struct {
	*githubtest.Server
	repo  *githubtest.Repository
	token string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	s := githubtest.New(t, githubtest.Options{})
	r := s.NewRepository("acme/deploy", map[string]string{"a.yaml": "image: web:1\n", "dir/b.yaml": "b: 1\n"})
	r.Settings.Permit("promoter", "write")
	return &desk{Server: s, repo: r, token: s.Token("promoter", "repo")}
}

// request sends a request with these headers, each a name and a value.
func request(t *testing.T, s *githubtest.Server, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.API()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for pair := range slices.Chunk(headers, 2) {
		req.Header.Set(pair[0], pair[1])
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// say sends a request with a credential and returns the status and GitHub's message.
func say(t *testing.T, s *githubtest.Server, method, path, credential, body string) (int, string) {
	t.Helper()
	resp, text := request(t, s, method, path, body, "Authorization", "Bearer "+credential, "Content-Type", "application/json")
	return resp.StatusCode, text
}

// ask sends a request with the token and decodes the response.
func (d *desk) ask(t *testing.T, method, path, body string) (int, map[string]any) {
	t.Helper()
	status, text := say(t, d.Server, method, path, d.token, body)
	var decoded map[string]any
	if strings.HasPrefix(text, "{") {
		if err := json.Unmarshal([]byte(text), &decoded); err != nil {
			t.Fatal(err)
		}
	}
	return status, decoded
}

// clone clones with the token in the URL.
func (d *desk) clone(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	gittest.Exec(t, "", "clone", "--quiet", strings.Replace(d.repo.Settings.CloneURL(), "://", "://x:"+d.token+"@", 1), dir)
	return dir
}

// change commits one file on a branch and pushes it.
func (d *desk) change(t *testing.T, dir, branch, content string) string {
	t.Helper()
	gittest.Exec(t, dir, "checkout", "--quiet", "-B", branch)
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	gittest.Exec(t, dir, "commit", "--quiet", "-am", "Change")
	gittest.Exec(t, dir, "push", "--quiet", "--force", "origin", branch)
	return strings.TrimSpace(gittest.Exec(t, dir, "rev-parse", "HEAD"))
}

func (d *desk) open(t *testing.T, head string) {
	t.Helper()
	if status, body := d.ask(t, "POST", "repos/acme/deploy/pulls", fmt.Sprintf(`{"title":"t","head":%q,"base":"main"}`, head)); status != http.StatusCreated {
		t.Fatalf("opened: %d %v", status, body)
	}
}

func TestServer_gitAndAPIShareBranches(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	dir := d.clone(t)
	commit := d.change(t, dir, "promoter/dev/web", "image: web:2\n")
	d.open(t, "promoter/dev/web")
	if p := d.repo.Pulls.Get(1); p.HeadCommit != commit || p.Author != "promoter" {
		t.Errorf("opened %+v", p)
	}
	if status, _ := d.ask(t, "GET", "repos/acme/deploy/pulls/1", ""); status != http.StatusOK {
		t.Errorf("read: %d", status)
	}
	again := d.change(t, dir, "promoter/dev/web", "image: web:3\n")
	if p := d.repo.Pulls.Get(1); p.HeadCommit != again {
		t.Errorf("the push was not seen: %+v", p)
	}
	if ref := gittest.Exec(t, dir, "ls-remote", "origin", "refs/pull/1/head"); !strings.HasPrefix(ref, again) {
		t.Errorf("refs/pull: %q", ref)
	}
	status, merged := d.ask(t, "PUT", "repos/acme/deploy/pulls/1/merge", fmt.Sprintf(`{"sha":%q,"merge_method":"squash","commit_title":"T","commit_message":"M"}`, again))
	if status != http.StatusOK || merged["sha"] != d.repo.Git.Head("main") {
		t.Errorf("merged: %d %v", status, merged)
	}
	gittest.Exec(t, dir, "fetch", "--quiet", "origin")
	if file := gittest.Exec(t, dir, "show", "origin/main:a.yaml"); file != "image: web:3\n" {
		t.Errorf("main holds %q", file)
	}
}

func TestServer_gitRefusals(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	dir := d.clone(t)
	d.repo.Protect("main", githubtest.Protection{PushDenied: true})
	gittest.Exec(t, dir, "commit", "--quiet", "--allow-empty", "-m", "x")
	refused := func(words string) {
		t.Helper()
		if out, err := gittest.TryExec(t, dir, "push", "origin", "HEAD:main"); err == nil || !strings.Contains(out, words) {
			t.Errorf("pushed: %v\n%s", err, out)
		}
	}
	refused("GH006: Protected branch update failed for refs/heads/main.")
	d.repo.Settings.Permit("promoter", "read")
	refused("Permission to acme/deploy.git denied to promoter.")
	d.repo.Settings.Permit("promoter", "write")
	d.repo.Settings.SetArchived(true)
	refused("archived so it is read-only")
	d.Revoke(d.token)
	refused("Invalid username or token")
}

func TestServer_countsRequests(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.ask(t, "GET", "repos/acme/deploy", "")
	d.repo.Settings.Rename("moved")
	d.ask(t, "GET", "repos/acme/deploy", "")
	counts := d.Traffic.Requests()
	if counts["GET /repos/{owner}/{repo}"] != 3 || len(counts) != 1 {
		t.Errorf("counted %v", counts)
	}
}

func TestServer_anonymousSeesThePublicOnly(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ask := func(path string) int {
		t.Helper()
		resp, _ := request(t, d.Server, http.MethodGet, path, "")
		return resp.StatusCode
	}
	if got := ask("repos/acme/deploy"); got != http.StatusNotFound {
		t.Errorf("private: %d", got)
	}
	if out, err := gittest.TryExec(t, "", "ls-remote", d.repo.Settings.CloneURL()); err == nil {
		t.Errorf("private: %s", out)
	}
	d.repo.Settings.SetPrivate(false)
	if got := ask("repos/acme/deploy/releases"); got != http.StatusOK {
		t.Errorf("public: %d", got)
	}
	if got := ask("user"); got != http.StatusUnauthorized {
		t.Errorf("user: %d", got)
	}
	gittest.Exec(t, "", "ls-remote", d.repo.Settings.CloneURL())
}

func TestServer_notModifiedCostsNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first, _ := request(t, d.Server, "GET", "repos/acme/deploy", "", "Authorization", "token "+d.token)
	again := []string{"Authorization", "token " + d.token, "If-None-Match", first.Header.Get("ETag")}
	second, body := request(t, d.Server, "GET", "repos/acme/deploy", "", again...)
	if second.StatusCode != http.StatusNotModified || body != "" {
		t.Errorf("asked again: %d %q", second.StatusCode, body)
	}
	if was, is := first.Header.Get("X-RateLimit-Remaining"), second.Header.Get("X-RateLimit-Remaining"); was != is || was != "4999" {
		t.Errorf("remaining %s, then %s", was, is)
	}
	d.repo.Settings.SetArchived(true)
	if third, _ := request(t, d.Server, "GET", "repos/acme/deploy", "", again...); third.StatusCode != http.StatusOK {
		t.Errorf("after a change: %d", third.StatusCode)
	}
}

// failing records what the server reports to a test.
type failing struct {
	testing.TB
	said []string
}

func (f *failing) Errorf(format string, _ ...any) { f.said = append(f.said, format) }

func TestServer_unknownRoutesFailTheTest(t *testing.T) {
	t.Parallel()
	watched := &failing{TB: t}
	s := githubtest.New(watched, githubtest.Options{})
	s.NewRepository("acme/deploy", map[string]string{"a.yaml": "a\n"})
	d := &desk{Server: s, token: s.Token("acme", "repo")}
	if status, _ := d.ask(t, "GET", "repos/acme/deploy/topics", ""); status != http.StatusNotImplemented || len(watched.said) != 1 {
		t.Errorf("answered %d, said %q", status, watched.said)
	}
	if status, _ := d.ask(t, "PATCH", "repos/acme/deploy/pulls", "{}"); status != http.StatusNotImplemented || len(watched.said) != 2 {
		t.Errorf("answered %d, said %q", status, watched.said)
	}
}
