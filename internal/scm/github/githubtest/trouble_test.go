package githubtest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"promoter/internal/scm/forgetest"
	"promoter/internal/scm/github/githubtest"
)

// get reads a path with a header and returns the whole response.
func (d *desk) get(t *testing.T, path, name, value string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.API()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "token "+d.token)
	req.Header.Set(name, value)
	resp, err := d.Client().Do(req)
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

func TestServer_notModifiedCostsNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first, _ := d.get(t, "repos/acme/deploy", "Accept", "*/*")
	second, body := d.get(t, "repos/acme/deploy", "If-None-Match", first.Header.Get("ETag"))
	if second.StatusCode != http.StatusNotModified || body != "" {
		t.Errorf("asked again: %d %q", second.StatusCode, body)
	}
	if was, is := first.Header.Get("X-RateLimit-Remaining"), second.Header.Get("X-RateLimit-Remaining"); was != is || was != "4999" {
		t.Errorf("remaining %s, then %s", was, is)
	}
	d.repo.Settings.SetArchived(true)
	if third, _ := d.get(t, "repos/acme/deploy", "If-None-Match", first.Header.Get("ETag")); third.StatusCode != http.StatusOK {
		t.Errorf("after a change: %d", third.StatusCode)
	}
}

func TestServer_limits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Limit(false, time.Now().Add(time.Minute))
	if resp, body := d.get(t, "user", "Accept", "*/*"); resp.StatusCode != http.StatusForbidden || resp.Header.Get("X-RateLimit-Remaining") != "0" || !strings.Contains(body, "rate limit exceeded") {
		t.Errorf("limited: %d %v %s", resp.StatusCode, resp.Header, body)
	}
	d.Limit(true, time.Now().Add(time.Minute))
	if resp, body := d.get(t, "user", "Accept", "*/*"); resp.StatusCode != http.StatusForbidden || resp.Header.Get("Retry-After") == "" || !strings.Contains(body, "secondary rate limit") {
		t.Errorf("limited: %d %v %s", resp.StatusCode, resp.Header, body)
	}
	d.Traffic.Lift()
	if resp, _ := d.get(t, "user", "Accept", "*/*"); resp.StatusCode != http.StatusOK {
		t.Errorf("lifted: %d", resp.StatusCode)
	}
}

func TestServer_loseCarriesOut(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo.Git.Commit("promoter", "x", "x", map[string]string{"a.yaml": "image: web:2\n"})
	d.Traffic.Lose("POST /repos/{owner}/{repo}/pulls")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.API()+"repos/acme/deploy/pulls", strings.NewReader(`{"title":"t","head":"x","base":"main"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "token "+d.token)
	req.Header.Set("Content-Type", "application/json")
	if resp, err := d.Client().Do(req); err == nil {
		_ = resp.Body.Close()
		t.Errorf("answered %d", resp.StatusCode)
	}
	if pulls := d.repo.Pulls.All(); len(pulls) != 1 {
		t.Errorf("carried out: %+v", pulls)
	}
	dir := d.clone(t)
	d.mustGit(t, dir, "commit", "--quiet", "--allow-empty", "-m", "x")
	d.Traffic.Lose("GIT receive-pack")
	if out, err := d.git(t, dir, "push", "origin", "HEAD:main"); err == nil || d.repo.Git.Head("main") != d.mustGit(t, dir, "rev-parse", "HEAD") {
		t.Errorf("pushed: %v\n%s", err, out)
	}
	d.Fail("GIT upload-pack", http.StatusBadGateway, "")
	if out, err := d.git(t, dir, "fetch", "origin", "+refs/pull/*:refs/pull/*"); err == nil {
		t.Errorf("fetched: %s", out)
	}
}

func TestServer_pagesWithLinks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo.Git.Commit("promoter", "x", "x", map[string]string{"a.yaml": "image: web:2\n"})
	number := d.repo.Pulls.Open("promoter", "x", "main", "t")
	for range 5 {
		d.repo.Pulls.Comment("ann", number, "text")
	}
	resp, _ := d.get(t, "repos/acme/deploy/issues/1/comments?per_page=2&page=2", "Accept", "*/*")
	at := func(page, relation string) string {
		return "<" + d.API() + "repos/acme/deploy/issues/1/comments?page=" + page + "&per_page=2>; rel=\"" + relation + "\""
	}
	if want := strings.Join([]string{at("1", "prev"), at("1", "first"), at("3", "next"), at("3", "last")}, ", "); resp.Header.Get("Link") != want {
		t.Errorf("links %s, want %s", resp.Header.Get("Link"), want)
	}
}

func TestServer_statuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	head := d.repo.Git.Head("main")
	for _, state := range []string{"pending", "success"} {
		if status, body := d.ask(t, "POST", "repos/acme/deploy/statuses/"+head, `{"context":"promoter","state":"`+state+`","description":"d"}`); status != http.StatusCreated {
			t.Fatalf("set: %d %v", status, body)
		}
	}
	if got, want := d.repo.Settings.Statuses(head)["promoter"], (forgetest.StatusState{Context: "promoter", State: "success", Description: "d", By: "promoter"}); got != want {
		t.Errorf("status %+v, want %+v", got, want)
	}
	if _, combined := d.ask(t, "GET", "repos/acme/deploy/commits/"+head+"/status", ""); combined["state"] != "success" || combined["total_count"] != 1.0 {
		t.Errorf("combined %v", combined)
	}
	if status, _ := d.ask(t, "POST", "repos/acme/deploy/statuses/"+head, `{"state":"success","description":"`+strings.Repeat("x", 141)+`"}`); status != http.StatusUnprocessableEntity {
		t.Errorf("too long: %d", status)
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
