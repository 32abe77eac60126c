package giteatest_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/gitea/giteatest"
)

// judged is a test whose failures are inspected.
type judged struct {
	testing.TB
	mu     sync.Mutex
	failed []string
}

func (j *judged) Errorf(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failed = append(j.failed, fmt.Sprintf(format, args...))
}

func (j *judged) words() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.failed, "\n")
}

// person sends requests to the server's API.
type person struct {
	t      *testing.T
	server *giteatest.Server
	token  string
}

func (p person) ask(method, path, body string) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.server.URL()+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Authorization", "token "+p.token)
	response, err := p.server.Client().Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = response.Body.Close()
}

func world(t *testing.T, as testing.TB) (*giteatest.Server, *giteatest.Repository, person) {
	t.Helper()
	s := giteatest.New(as, giteatest.Options{})
	r := s.NewRepository("acme/deploy", map[string]string{"a.yaml": "a: 1\n"})
	r.Settings.Permit("bot", "write")
	return s, r, person{t: t, server: s, token: s.Token("bot", giteatest.Scopes()...)}
}

// Requests that Gitea does not support fail the test.
func TestServer_isStrict(t *testing.T) {
	t.Parallel()
	for words, ask := range map[string]func(person){
		"no route for GET /repos/acme/deploy/nothing": func(p person) { p.ask("GET", "/repos/acme/deploy/nothing", "") },
		"no parameter head":                           func(p person) { p.ask("GET", "/repos/acme/deploy/pulls?head=x", "") },
		"is not sorted by":                            func(p person) { p.ask("GET", "/repos/acme/deploy/pulls?sort=created", "") },
		"unknown field":                               func(p person) { p.ask("POST", "/repos/acme/deploy/pulls", `{"draft":true}`) },
		"is no whole text":                            func(p person) { p.ask("POST", "/repos/acme/deploy/pulls", `{"title":"\ufffd"}`) },
		"refuses the whole pull": func(p person) {
			p.ask("POST", "/repos/acme/deploy/pulls", `{"head":"x","base":"main","assignees":["nobody"]}`)
		},
		"that is not bound to a head": func(p person) {
			p.server.AddUser("ann")
			p.ask("POST", "/repos/acme/deploy/pulls/1/merge", `{"Do":"merge"}`)
		},
	} {
		j := &judged{TB: t}
		_, r, p := world(t, j)
		r.Git.Commit("ann", "x", "X", map[string]string{"x": "1\n"})
		r.Pulls.Open("ann", "x", "main", "X")
		ask(p)
		if !strings.Contains(j.words(), words) {
			t.Errorf("failed with %q, want %q", j.words(), words)
		}
	}
}

// Git sees what the API sees, by the old name too, and reports Gitea's messages.
func TestServer_git(t *testing.T) {
	t.Parallel()
	s, r, p := world(t, t)
	old := strings.Replace(r.Settings.CloneURL(), "http://", "http://x:"+p.token+"@", 1)
	r.Settings.Rename("moved")
	dir := t.TempDir()
	if out, err := gittest.TryExec(t, dir, "clone", "--quiet", old, "."); err != nil {
		t.Fatalf("clone: %v: %s", err, out)
	}
	if out, err := gittest.TryExec(t, dir, "push", "origin", "HEAD:topic"); err != nil || r.Git.Head("topic") == "" {
		t.Fatalf("push: %v: %s", err, out)
	}
	r.Protect("prod", giteatest.Protection{PushDenied: true})
	out, err := gittest.TryExec(t, dir, "push", "origin", "HEAD:prod")
	if err == nil || !strings.Contains(out, "Gitea: Not allowed to push to protected branch prod") {
		t.Errorf("push to a protected branch: %v: %s", err, out)
	}
	r.Settings.SetArchived(true)
	if out, err := gittest.TryExec(t, dir, "push", "origin", "HEAD:other"); err == nil || !strings.Contains(out, "403") {
		t.Errorf("push to an archived repository: %v: %s", err, out)
	}
	if n := s.Traffic.Requests()["GIT receive-pack"]; n != 2 {
		t.Errorf("%d pushes", n)
	}
}

// A pull request follows what users do to its branches.
func TestRepository_followsPulls(t *testing.T) {
	t.Parallel()
	_, r, _ := world(t, t)
	first := r.Git.Commit("ann", "x", "X", map[string]string{"x": "1\n"})
	number := r.Pulls.Open("ann", "x", "main", "X")
	r.Pulls.Close("bob", number)
	r.Git.Commit("ann", "x", "Y", map[string]string{"x": "2\n"})
	if got := r.Pulls.Get(number); got.HeadCommit != first || got.Closer != "bob" {
		t.Errorf("a closed one: %+v", got)
	}
	r.Git.DeleteBranch("ann", "x")
	r.Pulls.Reopen("ann", number)
	if got := r.Pulls.Get(number); !got.Open || r.Git.Head("x") != first {
		t.Errorf("opened again: %+v", got)
	}
	r.Pulls.Merge("ann", number, "fast-forward")
	if got := r.Pulls.Get(number); !got.Open {
		t.Errorf("pushed by hand, and found out: %+v", got)
	}
	r.Git.Commit("ann", "y", "Y", map[string]string{"y": "1\n"})
	number = r.Pulls.Open("ann", "y", "main", "Y")
	r.DetectMerges()
	r.Pulls.Merge("ann", number, "fast-forward")
	if got := r.Pulls.Get(number); !got.Merged || got.MergeCommit != r.Git.Head("main") {
		t.Errorf("pushed by hand: %+v", got)
	}
}
