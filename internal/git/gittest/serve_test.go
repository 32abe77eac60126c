package gittest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"promoter/internal/git/gittest"
)

// served is one repository behind a server.
type served struct {
	*gittest.Repository
	url    string
	admit  atomic.Pointer[func(gittest.Visit) gittest.Admission]
	pushed atomic.Int32
}

func serve(t *testing.T) *served {
	t.Helper()
	git := gittest.New(t)
	s := &served{Repository: git.Init("web", gittest.Setup{Refusal: []string{"No pushes to BRANCH.", "Ask ann."}})}
	s.Add("main", "Begin", ann, map[string]string{"a": "1\n"})
	s.say(gittest.Admission{Repository: s.Repository, Login: "ann", Pushed: func() { s.pushed.Add(1) }})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { git.Serve(w, r, *s.admit.Load()) }))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *served) say(answer gittest.Admission) {
	admit := func(gittest.Visit) gittest.Admission { return answer }
	s.admit.Store(&admit)
}

func (s *served) clone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := gittest.TryExec(t, dir, "clone", "--quiet", s.url+"/acme/web.git", "."); err != nil {
		t.Fatalf("clone: %v: %s", err, out)
	}
	return dir
}

func TestServe(t *testing.T) {
	t.Parallel()
	s := serve(t)
	dir := s.clone(t)
	if out, err := gittest.TryExec(t, dir, "push", "origin", "HEAD:topic"); err != nil {
		t.Fatalf("push: %v: %s", err, out)
	}
	if s.Head("topic") != s.Head("main") || s.pushed.Load() != 1 {
		t.Errorf("topic is at %q, %d pushes", s.Head("topic"), s.pushed.Load())
	}
}

func TestServe_protected(t *testing.T) {
	t.Parallel()
	s := serve(t)
	dir := s.clone(t)
	s.Protect("topic")
	out, err := gittest.TryExec(t, dir, "push", "origin", "HEAD:topic")
	if err == nil || !strings.Contains(out, "No pushes to topic.") || !strings.Contains(out, "Ask ann.") || s.Head("topic") != "" {
		t.Errorf("push to a protected branch: %v: %s", err, out)
	}
	s.Protect()
	if out, err := gittest.TryExec(t, dir, "push", "origin", "HEAD:topic"); err != nil {
		t.Errorf("push to an open branch: %v: %s", err, out)
	}
}

func TestServe_lost(t *testing.T) {
	t.Parallel()
	s := serve(t)
	dir := s.clone(t)
	lost := func(visit gittest.Visit) gittest.Admission {
		return gittest.Admission{Repository: s.Repository, Login: "ann", Lose: visit.Service == "receive-pack", Pushed: func() { s.pushed.Add(1) }}
	}
	s.admit.Store(&lost)
	if out, err := gittest.TryExec(t, dir, "push", "origin", "HEAD:topic"); err == nil {
		t.Errorf("the push was answered: %s", out)
	}
	if s.Head("topic") == "" || s.pushed.Load() == 0 { // git may ask again by itself
		t.Errorf("topic is at %q, %d pushes", s.Head("topic"), s.pushed.Load())
	}
}

func TestServe_refused(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for words, refused := range map[string]http.HandlerFunc{
		"not there":             gittest.Refuse(http.StatusNotFound, "it is not there"),
		"Authentication failed": gittest.Unknown("Forge", "who are you"),
	} {
		s.say(gittest.Admission{Refused: refused})
		out, err := gittest.TryExec(t, t.TempDir(), "ls-remote", strings.Replace(s.url, "http://", "http://x:y@", 1)+"/acme/web.git")
		if err == nil || !strings.Contains(out, words) {
			t.Errorf("%v: %s, want %q", err, out, words)
		}
	}
}

func TestServe_moved(t *testing.T) {
	t.Parallel()
	s := serve(t)
	follow := func(visit gittest.Visit) gittest.Admission {
		if visit.Name == "acme/old" {
			return gittest.Admission{Refused: visit.Moved(s.url, "acme/web")}
		}
		return gittest.Admission{Repository: s.Repository}
	}
	s.admit.Store(&follow)
	if out, err := gittest.TryExec(t, t.TempDir(), "ls-remote", s.url+"/acme/old.git"); err != nil || !strings.Contains(out, s.Head("main")) {
		t.Errorf("%v: %s", err, out)
	}
}
