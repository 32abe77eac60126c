package githubtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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

// ask sends a request and decodes the response.
func (d *desk) ask(t *testing.T, method, path, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, d.API()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := d.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var decoded map[string]any
	if len(text) > 0 && text[0] == '{' {
		if err := json.Unmarshal(text, &decoded); err != nil {
			t.Fatal(err)
		}
	}
	return resp.StatusCode, decoded
}

// git runs git in a clone with the token as the password.
func (d *desk) git(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	out, err := command.CombinedOutput()
	return string(out), err
}

func (d *desk) mustGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := d.git(t, dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

// clone clones with the token in the URL.
func (d *desk) clone(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	d.mustGit(t, "", "clone", "--quiet", strings.Replace(d.repo.Settings.CloneURL(), "://", "://x:"+d.token+"@", 1), dir)
	return dir
}

// change commits one file on a branch and pushes it.
func (d *desk) change(t *testing.T, dir, branch, content string) string {
	t.Helper()
	d.mustGit(t, dir, "checkout", "--quiet", "-B", branch)
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	d.mustGit(t, dir, "commit", "--quiet", "-am", "Change")
	d.mustGit(t, dir, "push", "--quiet", "--force", "origin", branch)
	return d.mustGit(t, dir, "rev-parse", "HEAD")
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
	if ref := d.mustGit(t, dir, "ls-remote", "origin", "refs/pull/1/head"); !strings.HasPrefix(ref, again) {
		t.Errorf("refs/pull: %q", ref)
	}
	status, merged := d.ask(t, "PUT", "repos/acme/deploy/pulls/1/merge", fmt.Sprintf(`{"sha":%q,"merge_method":"squash","commit_title":"T","commit_message":"M"}`, again))
	if status != http.StatusOK || merged["sha"] != d.repo.Git.Head("main") {
		t.Errorf("merged: %d %v", status, merged)
	}
	d.mustGit(t, dir, "fetch", "--quiet", "origin")
	if file := d.mustGit(t, dir, "show", "origin/main:a.yaml"); file != "image: web:3" {
		t.Errorf("main holds %q", file)
	}
}

func TestServer_branchesDecideAboutPullRequests(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	dir := d.clone(t)
	d.change(t, dir, "one", "one\n")
	d.open(t, "one")
	d.mustGit(t, dir, "push", "--quiet", "origin", ":one")
	if p := d.repo.Pulls.Get(1); p.Open || p.Merged || p.Closer != "promoter" {
		t.Errorf("after the branch was deleted: %+v", p)
	}
	commit := d.change(t, dir, "two", "two\n")
	d.open(t, "two")
	d.mustGit(t, dir, "push", "--quiet", "origin", "two:main")
	if p := d.repo.Pulls.Get(2); !p.Merged || p.MergeCommit != commit {
		t.Errorf("after a fast-forward: %+v", p)
	}
}

func TestServer_gitRefusals(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	dir := d.clone(t)
	d.repo.Protect("main", githubtest.Protection{PushDenied: true})
	d.mustGit(t, dir, "commit", "--quiet", "--allow-empty", "-m", "x")
	refused := func(words string) {
		t.Helper()
		if out, err := d.git(t, dir, "push", "origin", "HEAD:main"); err == nil || !strings.Contains(out, words) {
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

func TestServer_mergeRefusals(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	head := d.repo.Git.Commit("promoter", "x", "x", map[string]string{"a.yaml": "image: web:2\n"})
	d.open(t, "x")
	merge := func(body, words string, want int) {
		t.Helper()
		if status, answer := d.ask(t, "PUT", "repos/acme/deploy/pulls/1/merge", body); status != want || !strings.Contains(fmt.Sprint(answer["message"]), words) {
			t.Errorf("merge %s: %d %v", body, status, answer)
		}
	}
	merge(fmt.Sprintf(`{"sha":%q}`, d.repo.Git.Head("main")), "Head branch was modified", http.StatusConflict)
	d.repo.AllowMethods("squash")
	merge(`{"merge_method":"rebase"}`, "Rebase merges are not allowed", http.StatusMethodNotAllowed)
	d.repo.Protect("main", githubtest.Protection{Demands: githubtest.Demands{Checks: []string{"ci"}, Approvals: 1}})
	merge(`{"merge_method":"squash"}`, `Required status check "ci" is expected.`, http.StatusMethodNotAllowed)
	d.repo.SetCheckRun("ci[bot]", head, "ci", "success")
	merge(`{"merge_method":"squash"}`, "At least 1 approving review", http.StatusMethodNotAllowed)
	d.repo.Settings.Permit("ann", "write")
	d.repo.Pulls.Approve("ann", 1)
	d.repo.RequireQueue()
	merge(`{"merge_method":"squash"}`, "Changes must be made through the merge queue", http.StatusMethodNotAllowed)
	d.repo.Git.Commit("ann", "main", "other", map[string]string{"a.yaml": "image: web:9\n"})
	merge(`{"merge_method":"squash"}`, "not mergeable", http.StatusMethodNotAllowed)
	for _, want := range []any{nil, false} { // computed lazily
		if _, p := d.ask(t, "GET", "repos/acme/deploy/pulls/1", ""); p["mergeable"] != want {
			t.Errorf("mergeable is %v, want %v", p["mergeable"], want)
		}
	}
	if got := rebased(d); got == "" {
		t.Error("nothing merged")
	}
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

// rebased merges a branch with two commits by rebasing it onto a moved base.
func rebased(d *desk) string {
	d.repo.Git.Commit("ann", "y", "one", map[string]string{"dir/b.yaml": "b: 2\n"})
	d.repo.Git.Commit("ann", "y", "two", map[string]string{"dir/b.yaml": "b: 3\n"})
	number := d.repo.Pulls.Open("ann", "y", "main", "y")
	d.repo.Git.Commit("ann", "main", "other", map[string]string{"a.yaml": "image: web:10\n"})
	return d.repo.Pulls.Merge("ann", number, "rebase")
}

func TestServer_anonymousSeesThePublicOnly(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ask := func(path string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.API()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := d.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if got := ask("repos/acme/deploy"); got != http.StatusNotFound {
		t.Errorf("private: %d", got)
	}
	if out, err := d.git(t, "", "ls-remote", d.repo.Settings.CloneURL()); err == nil {
		t.Errorf("private: %s", out)
	}
	d.repo.Settings.SetPrivate(false)
	if got := ask("repos/acme/deploy/releases"); got != http.StatusOK {
		t.Errorf("public: %d", got)
	}
	if got := ask("user"); got != http.StatusUnauthorized {
		t.Errorf("user: %d", got)
	}
	d.mustGit(t, "", "ls-remote", d.repo.Settings.CloneURL())
}
