package app_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/scm/github/githubtest"
)

// doctor checks a story, and returns a line for each finding.
func (s *story) doctor(now func() time.Time, more ...string) string {
	s.t.Helper()
	file := s.serverFile("doctor.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		fmt.Sprintf("data: %q\nrepositories: [{forge: forge, name: acme/gitops}]", filepath.Join(s.dir, "data"))+strings.Join(more, ""))
	return checked(s.t, file, environ("TOKEN", s.token), now)
}

// The warnings in responses of a forge are reported, and nothing is written to it.
func TestDoctor_github(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	s.forge.Traffic.ResetRequests()
	host := strings.TrimPrefix(s.forge.URL(), "http://")
	found := s.doctor(s.clock.Now)
	for _, want := range []string{
		"ok forge " + host + ": answers, and allows 49", "ok repository acme/gitops: opens, may be pushed to, and has a valid config",
		s.expand("ok registry $R: answers acme/gitops about acme/"), "warn receivers: there are none",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("no %q in\n%s", want, found)
		}
	}
	if strings.Contains(found, "fail") {
		t.Errorf("something fails:\n%s", found)
	}
	onlyReads(t, s.forge.Traffic.Requests())
	// Half a minute more: the clock of a forge has a resolution of one second.
	late := func() time.Time { return s.clock.Now().Add(-time.Hour - 30*time.Second) }
	if found := s.doctor(late); !strings.Contains(found, "warn forge "+host+": its clock differs from this machine's by 1h0m") {
		t.Errorf("a wrong clock:\n%s", found)
	}
	if found := s.doctor(s.clock.Now, "\nlimits: [{environments: [none], approvals: 1}]"); !strings.Contains(found, "warn repository acme/gitops: no entry of limits in the server file knows the environment ") {
		t.Errorf("environments that no limit knows:\n%s", found)
	}
	s.repo.Git.Run("branch", "promoter/_state", "main")
	s.repo.Rule("promoter/_state", githubtest.Ruleset{Demands: githubtest.Demands{Signed: true}})
	if found := s.doctor(s.clock.Now); !strings.Contains(found, "repository acme/gitops: promoter/_state") || !strings.Contains(found, "signed commits") {
		t.Errorf("a rule for the state branch:\n%s", found)
	}
}

func TestDoctor_rights(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	s.token = "canary-of-a-token"
	if found := s.doctor(s.clock.Now); !strings.Contains(found, "fail repository acme/gitops: ") || strings.Contains(found, "canary") {
		t.Errorf("a token that is none:\n%s", found)
	}
	s.token = s.forge.Token("reader", "repo")
	s.repo.Settings.Permit("reader", "read")
	if found := s.doctor(s.clock.Now); !strings.Contains(found, "fail repository acme/gitops: the credential may read it and not push") {
		t.Errorf("a token that may only read:\n%s", found)
	}
}

// The receivers of a config must exist, report health, and report for the repository.
func TestDoctor_receiversOfHealth(t *testing.T) {
	t.Parallel()
	for receivers, want := range map[string]string{
		"": "health is never known: from names the receiver argo, which the server file does not have (add it to receivers, with kind: argocd)",
		"argo: {kind: flux, secret: \"env:TOKEN\"}":                                  "health is never known: from names the receiver argo, which is of the kind flux (name one with kind: argocd)",
		"argo: {kind: argocd, secret: \"env:TOKEN\", repositories: [\"h/other/*\"]}": "health is never known: the receiver argo reports for other repositories (add the repository to repositories of the receiver)",
		"argo: {kind: argocd, secret: \"env:TOKEN\"}":                                "",
	} {
		s := newStory(t, "github", monitored)
		found := s.doctor(s.clock.Now, "\nreceivers: {"+receivers+"}")
		if want != "" && !strings.Contains(found, "warn repository acme/gitops: "+want) || want == "" && strings.Contains(found, "health is never known") {
			t.Errorf("%s:\n%s", receivers, found)
		}
	}
}
