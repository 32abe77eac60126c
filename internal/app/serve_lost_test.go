package app_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/scm/gitlab/gitlabtest"
)

// polled waits for the reconciliations of one poll, and for their effects.
func (w *served) polled(acts ...string) {
	w.t.Helper()
	w.wait(6 * time.Minute) // five, and up to a tenth more
	for _, act := range acts {
		w.until(act)
	}
	w.until("reconciled")
}

// No webhook arrives: a poll notices that a pull request was merged or closed, and that
// a user pushed to a branch.
func TestServe_webhooksLostOnGitHub(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serveAs(t, s, serving{quiet: -1, poll: "5m"})
	s.release("web", "1.1.0")
	w.polled("opened")
	s.repo.Pulls.Close("ada", 1)
	w.polled()
	w.polled()
	s.pulls(stagingHead + " closed")
	s.release("web", "1.2.0")
	w.polled("opened")
	s.edit("ada", "main", "staging/shop.yaml", s.line("web:1.0.0"), s.line("web:1.2.0")) // by hand
	w.polled("closed", "opened")
	s.pulls(stagingHead+" closed", stagingHead+" closed", prodHead+" open")
	s.repo.Pulls.Merge("ada", 3, "merge")
	w.polled()
	for _, environment := range []string{"dev", "staging", "prod"} {
		s.holds(environment, "1.2.0 1.0.0")
	}
	w.stop()
	s.calm()
}

// The same on GitLab.
func TestServe_webhooksLostOnGitLab(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	s := newStory(t, "github", reviewed) // for its registry, its clock, and its config
	lab := gitlabtest.New(t, gitlabtest.Options{Now: s.clock.Now})
	project := lab.NewProject("acme/gitops", s.tree(reviewed, "web:1.0.0", "worker:1.0.0"))
	for _, who := range []string{"promoter-bot", "ada"} {
		project.Settings.Permit(who, gitlabtest.Maintainer)
	}
	s.token = lab.Token("promoter-bot", "api")
	w := serveFile(t, s, -1, s.serverFile("served.yaml", fmt.Sprintf(`lab: {kind: gitlab, url: "%s", insecure: true, token: "env:TOKEN"}`, lab.URL()),
		fmt.Sprintf("data: %q\npoll: 5m\nrepositories: [{forge: lab, name: acme/gitops}]", filepath.Join(s.dir, "data"))))
	states := func(want ...string) {
		t.Helper()
		var got []string
		for _, one := range project.Requests() {
			got = append(got, one.Head+" "+one.State)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("merge requests %q, want %q", got, want)
		}
	}
	s.release("web", "1.1.0")
	w.polled("opened")
	project.Pulls.Close("ada", 1)
	w.polled()
	w.polled()
	states(stagingHead + " closed")
	s.release("web", "1.2.0")
	w.polled("opened")
	project.Pulls.Merge("ada", 2, "merge")
	w.polled("opened")
	states(stagingHead+" closed", stagingHead+" merged", prodHead+" opened")
	w.stop()
}
