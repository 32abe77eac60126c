package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/connect"
	"promoter/internal/doctor"
	"promoter/internal/scm/github/githubtest"
)

// doctor checks a story, and returns a line for each finding.
func (s *story) doctor(now func() time.Time) string {
	s.t.Helper()
	file := filepath.Join(s.dir, "doctor.yaml")
	text := fmt.Sprintf(`version: 1
data: %q
forges:
  forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}
repositories:
  - {forge: forge, name: acme/gitops}
networks: [127.0.0.0/8]
%s`, filepath.Join(s.dir, "data"), s.forge.URL(), s.expand(insecureRegistry))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	env := func(name string) (string, bool) { return s.token, name == "TOKEN" }
	findings, err := doctor.Check(s.t.Context(), connect.Options{Config: file, Env: env, Now: now})
	if err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for _, f := range findings {
		lines = append(lines, fmt.Sprintf("%s %s: %s (%s)", f.Verdict, f.Subject, f.Message, f.Fix))
	}
	return strings.Join(lines, "\n")
}

// What a forge says in passing is heard, and nothing is written to it.
func TestDoctor_github(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	s.forge.Traffic.ResetRequests()
	host := strings.TrimPrefix(s.forge.URL(), "http://")
	said := s.doctor(s.clock.Now)
	for _, want := range []string{
		"ok forge " + host + ": answers, and allows 49", "ok repository acme/gitops: opens, may be pushed to, and has a valid config",
		s.expand("ok registry $R: answers acme/gitops about acme/"), "warn receivers: there are none",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if strings.Contains(said, "fail") {
		t.Errorf("something fails:\n%s", said)
	}
	for route, n := range s.forge.Traffic.Requests() {
		if changes(route) {
			t.Errorf("%d times %s", n, route)
		}
	}
	// Half a minute more: a forge tells whole seconds only.
	late := func() time.Time { return s.clock.Now().Add(-time.Hour - 30*time.Second) }
	if said := s.doctor(late); !strings.Contains(said, "warn forge "+host+": its clock differs from this machine's by 1h0m") {
		t.Errorf("a wrong clock:\n%s", said)
	}
	s.repo.Git.Run("branch", "promoter/_state", "main")
	s.repo.Rule("promoter/_state", githubtest.Ruleset{Demands: githubtest.Demands{Signed: true}})
	if said := s.doctor(s.clock.Now); !strings.Contains(said, "repository acme/gitops: promoter/_state") || !strings.Contains(said, "signed commits") {
		t.Errorf("a rule for the state branch:\n%s", said)
	}
}

func TestDoctor_rights(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	s.token = "canary-of-a-token"
	if said := s.doctor(s.clock.Now); !strings.Contains(said, "fail repository acme/gitops: ") || strings.Contains(said, "canary") {
		t.Errorf("a token that is none:\n%s", said)
	}
	s.token = s.forge.Token("reader", "repo")
	s.repo.Permit("reader", "read")
	if said := s.doctor(s.clock.Now); !strings.Contains(said, "fail repository acme/gitops: the credential may read it and not push") {
		t.Errorf("a token that may only read:\n%s", said)
	}
}
