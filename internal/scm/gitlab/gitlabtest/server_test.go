package gitlabtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/gitlab/gitlabtest"
)

// failing records failures of a test.
type failing struct {
	testing.TB
	said []string
}

func (f *failing) Errorf(format string, _ ...any) { f.said = append(f.said, format) }

// desk is a server with a project and a token of a Developer.
type desk struct {
	*gitlabtest.Server
	watched *failing
	project *gitlabtest.Project
	token   string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{watched: &failing{TB: t}}
	d.Server = gitlabtest.New(d.watched, gitlabtest.Options{Root: "/lab"})
	d.project = d.NewProject("acme/sub/deploy", map[string]string{"a.yaml": "a: 1\n"})
	d.project.Settings.Permit("promoter", gitlabtest.Developer)
	d.token = d.Token("promoter", "api")
	return d
}

// ask sends a request and returns GitLab's message.
func (d *desk) ask(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, d.URL()+"/api/v4/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("PRIVATE-TOKEN", d.token)
	resp, err := d.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var told struct{ Message, Error any }
	if json.Unmarshal(text, &told) == nil {
		said, _ := json.Marshal([]any{told.Message, told.Error})
		return resp.StatusCode, string(said)
	}
	return resp.StatusCode, string(text)
}

func TestServer_strangeRequestsFailTheTest(t *testing.T) {
	t.Parallel()
	for _, strange := range [][3]string{
		{"GET", "projects/acme%2Fsub%2Fdeploy/wikis", ""},
		{"GET", "projects/acme%2Fsub%2Fdeploy?statistics=true", ""},
		{"POST", "projects/acme%2Fsub%2Fdeploy/merge_requests", `{"title":"T","source_branch":"x","target_branch":"main","lables":"a"}`},
		{"POST", "projects/acme%2Fsub%2Fdeploy/merge_requests/1/notes", `{"body":"/close"}`},
	} {
		d := newDesk(t)
		d.project.Git.Commit("promoter", "x", "X", map[string]string{"a.yaml": "a: 2\n"})
		d.project.Pulls.Open("promoter", "x", "main", "X")
		if d.ask(t, strange[0], strange[1], strange[2]); len(d.watched.said) != 1 {
			t.Errorf("%v: said %q", strange, d.watched.said)
		}
	}
}

func TestGit(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	dir := filepath.Join(t.TempDir(), "clone")
	address := strings.Replace(d.project.Settings.CloneURL(), "://", "://oauth2:"+d.token+"@", 1)
	if out, err := gittest.TryExec(t, "", "clone", "--quiet", address, dir); err != nil {
		t.Fatalf("clone: %v: %s", err, out)
	}
	d.project.Protect("main", gitlabtest.Protection{Push: gitlabtest.Maintainer, Merge: gitlabtest.Developer})
	head := d.project.Git.Commit("ann", "next", "Next", map[string]string{"a.yaml": "a: 2\n"})
	if out, err := gittest.TryExec(t, dir, "fetch", "--quiet", "origin", "next"); err != nil {
		t.Fatalf("fetch: %v: %s", err, out)
	}
	for _, push := range []struct {
		before      func()
		to, refused string
	}{
		{nil, "topic", ""},
		{nil, "main", "You are not allowed to push code to protected branches on this project."},
		{func() { d.project.Settings.Permit("promoter", gitlabtest.Maintainer) }, "main", ""},
		{func() { d.project.Settings.Rename("acme/moved") }, "other", ""}, // a former path works
		{func() { d.SetScopes(d.token, "read_api", "read_repository") }, "more", "You are not allowed to push code to this project."},
		{func() { d.SetScopes(d.token, "api"); d.project.Settings.SetArchived(true) }, "more", "archived"},
		{func() { d.Revoke(d.token) }, "more", "Authentication failed"},
	} {
		if push.before != nil {
			push.before()
		}
		out, err := gittest.TryExec(t, dir, "push", "--quiet", "origin", head+":refs/heads/"+push.to)
		if (err == nil) != (push.refused == "") || !strings.Contains(out, push.refused) {
			t.Errorf("push to %s: %v: %s, want %q", push.to, err, out, push.refused)
		}
		if landed := d.project.Git.Head(push.to) == head; landed != (push.refused == "") {
			t.Errorf("%s is at %s", push.to, d.project.Git.Head(push.to))
		}
	}
}
