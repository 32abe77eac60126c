package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"promoter/internal/app"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm/gitlab/gitlabtest"
)

// TestRun_theStoryWithMergeRequests_gitlab plays the story on a GitLab below a path,
// with a project in a subgroup: dev lands by push, a user merges into staging, and prod
// merges automatically with a green pipeline and an approval. A run after that writes
// nothing.
func TestRun_theStoryWithMergeRequests_gitlab(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	s, lab, project := newGitLabStory(t, "/gitlab")

	s.release("web", "1.1.0")
	wantActs(t, s.run(), outcome.ActionPushed, outcome.ActionOpened)
	if one := project.Request(1); one.Head != stagingHead || one.Author != "promoter-bot" || one.State != "opened" {
		t.Errorf("opened %+v", one)
	}
	project.Lag(2) // GitLab processes a push after its response
	s.release("web", "1.1.1")
	wantActs(t, s.run(), outcome.ActionPushed, outcome.ActionRefreshed)
	wantActs(t, s.run())
	project.Pulls.Merge("ada", 1, "squash")
	wantActs(t, s.run(), outcome.ActionOpened)
	head := project.Request(2).HeadCommit
	project.SetJob("promoter-bot", head, "e2e", "running", false) // our push started it
	project.Approve("bob", 2)
	s.run()
	if one := project.Request(2); one.State != "opened" {
		t.Errorf("merged before its pipeline: %+v", one)
	}
	project.SetJob("promoter-bot", head, "e2e", "success", false)
	wantActs(t, s.run(), outcome.ActionMerged)
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
	onlyReads(t, lab.Traffic.Requests())
}

// newGitLabStory makes a story whose repository is on a GitLab below a path.
func newGitLabStory(t *testing.T, root string) (*story, *gitlabtest.Server, *gitlabtest.Project) {
	t.Helper()
	return newGitLabStoryOf(t, root, reviewed)
}

func newGitLabStoryOf(t *testing.T, root, config string) (*story, *gitlabtest.Server, *gitlabtest.Project) {
	t.Helper()
	s := newStory(t, "github", config) // for its registry, its clock, and its config
	lab := gitlabtest.New(t, gitlabtest.Options{Now: s.clock.Now, Root: root, Free: true})
	project := lab.NewProject("acme/platform/gitops", s.tree(config, "web:1.0.0", "worker:1.0.0"))
	for _, who := range []string{"ada", "bob"} {
		project.Settings.Permit(who, gitlabtest.Developer)
	}
	project.Settings.Permit("promoter-bot", gitlabtest.Maintainer) // main is protected by default
	project.Protect("main", gitlabtest.Protection{Push: gitlabtest.Maintainer, Merge: gitlabtest.Maintainer})
	file := s.serverFile("gitlab.yaml", fmt.Sprintf(`lab: {kind: gitlab, url: "%s", insecure: true, token: "env:TOKEN"}`, lab.URL()),
		"repositories: [{forge: lab, name: acme/platform/gitops}]")
	s.server = connected(t, file, environ("TOKEN", lab.Token("promoter-bot", "api")), s.clock.Now)
	return s, lab, project
}

func wantActs(t *testing.T, report outcome.Report, want ...outcome.Action) {
	t.Helper()
	if got := actsOf(report); !slices.Equal(got, want) {
		t.Errorf("did %v, want %v", got, want)
	}
}
