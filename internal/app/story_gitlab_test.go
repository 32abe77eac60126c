package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"promoter/internal/app"
	"promoter/internal/connect"
	"promoter/internal/engine"
	"promoter/internal/scm/gitlab/gitlabtest"
)

// TestRun_theStoryWithMergeRequests_gitlab plays the story on a GitLab below a path,
// with a project in a subgroup: dev lands by push, a user merges into staging, and prod
// merges automatically with a green pipeline and an approval. A run after that writes
// nothing.
func TestRun_theStoryWithMergeRequests_gitlab(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	s := newStory(t, "github", reviewed) // for its registry, its clock, and its config
	lab := gitlabtest.New(t, gitlabtest.Options{Now: s.clock.Now, Root: "/gitlab", Free: true})
	files := map[string]string{".promoter.yaml": s.expand(reviewed)}
	for _, environment := range []string{"dev", "staging", "prod"} {
		files[environment+"/shop.yaml"] = s.manifest("web:1.0.0", "worker:1.0.0")
	}
	project := lab.NewProject("acme/platform/gitops", files)
	for _, who := range []string{"promoter-bot", "ada", "bob"} {
		project.Settings.Permit(who, gitlabtest.Developer)
	}
	project.Settings.Permit("promoter-bot", gitlabtest.Maintainer) // main is protected by default
	project.Protect("main", gitlabtest.Protection{Push: gitlabtest.Maintainer, Merge: gitlabtest.Maintainer})
	s.server = openGitLab(s, lab)

	s.release("web", "1.1.0")
	wantActs(t, s.run(), engine.ActionPushed, engine.ActionOpened)
	if one := project.Request(1); one.Head != stagingHead || one.Author != "promoter-bot" || one.State != "opened" {
		t.Errorf("opened %+v", one)
	}
	project.Lag(2) // GitLab processes a push after its response
	s.release("web", "1.1.1")
	wantActs(t, s.run(), engine.ActionPushed, engine.ActionRefreshed)
	wantActs(t, s.run())
	project.Pulls.Merge("ada", 1, "squash")
	wantActs(t, s.run(), engine.ActionOpened)
	head := project.Request(2).HeadCommit
	project.SetJob("promoter-bot", head, "e2e", "running", false) // our push started it
	project.Approve("bob", 2)
	s.run()
	if one := project.Request(2); one.State != "opened" {
		t.Errorf("merged before its pipeline: %+v", one)
	}
	project.SetJob("promoter-bot", head, "e2e", "success", false)
	wantActs(t, s.run(), engine.ActionMerged)
	if one := project.Request(2); one.State != "merged" || one.Closer != "promoter-bot" {
		t.Errorf("in the end %+v", one)
	}
	for _, environment := range []string{"dev", "staging", "prod"} {
		if text := project.Git.Run("show", "main:"+environment+"/shop.yaml"); !strings.Contains(text, s.line("web:1.1.1")) {
			t.Errorf("%s holds\n%s", environment, text)
		}
	}
	s.run()
	lab.Traffic.ResetRequests()
	s.run()
	for route, n := range lab.Traffic.Requests() {
		if !strings.HasPrefix(route, "GET ") && route != "GIT info/refs" && route != "GIT upload-pack" {
			t.Errorf("the run after that wrote: %d × %s", n, route)
		}
	}
}

// openGitLab opens a server file of the project.
func openGitLab(s *story, lab *gitlabtest.Server) *connect.Connections {
	s.t.Helper()
	file := filepath.Join(s.dir, "gitlab.yaml")
	text := fmt.Sprintf(`version: 1
forges:
  lab: {kind: gitlab, url: "%s", insecure: true, token: "env:TOKEN"}
repositories:
  - {forge: lab, name: acme/platform/gitops}
networks: [127.0.0.0/8]
%s`, lab.URL(), s.expand(insecureRegistry))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	token := lab.Token("promoter-bot", "api")
	server, err := connect.Connect(connect.Options{
		WritePace: -1,
		Config:    file, Env: func(name string) (string, bool) { return token, name == "TOKEN" }, Now: s.clock.Now,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return server
}

func wantActs(t *testing.T, report engine.Report, want ...engine.Action) {
	t.Helper()
	if got := actsOf(report); !slices.Equal(got, want) {
		t.Errorf("did %v, want %v", got, want)
	}
}
