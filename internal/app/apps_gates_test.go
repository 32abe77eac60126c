package app_test

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm/github/githubtest"
)

// gatedBy is webIn with gates that read everything that an App may read.
func gatedBy(team string) map[string]string {
	return webIn("automerge, gates: {checks: [e2e, build], approvals: {count: 1, from: [\"team:" + team + "\"]}}")
}

// approve lets all gates of the pull request pass.
func approve(repository *githubtest.Repository) {
	head := repository.Pulls.Get(1).HeadCommit
	repository.Settings.SetStatus("ci", head, "e2e", "success")
	repository.SetCheckRun("actions", head, "build", "success")
	repository.Settings.Permit("ann", "write")
	repository.Pulls.Approve("ann", 1)
}

func TestRun_appMergesWhatUsersApproved(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	repository := o.repository("acme/gitops", gatedBy("acme/sre"))
	o.github.SetTeam("acme/sre", "ann")
	o.app.Install("acme")
	o.run("")
	if got := did(o.run("")["acme/gitops"]); got != "[]" {
		t.Errorf("before the gates are open: %s", got)
	}
	approve(repository)
	if got := did(o.run("")["acme/gitops"]); got != fmt.Sprint([]outcome.Action{outcome.ActionMerged}) && got != fmt.Sprint([]outcome.Action{outcome.ActionUpdated, outcome.ActionMerged}) {
		t.Errorf("with open gates: %s", got)
	}
	if got := repository.Pulls.Get(1); !got.Merged || got.Closer != "promoter[bot]" {
		t.Errorf("got %+v", got)
	}
	if got := repository.Settings.Statuses(repository.Pulls.Get(1).HeadCommit)["promoter"].By; got != "promoter[bot]" {
		t.Errorf("the status is by %q", got)
	}
}

// A permission that only some configs need is reported where it is missing.
func TestRun_appMayNotReadTeams(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	repository := o.repository("acme/gitops", gatedBy("acme/sre"))
	o.github.SetTeam("acme/sre", "ann")
	less := needed()
	delete(less, "members")
	o.app.Install("acme").Permit(less)
	o.run("")
	approve(repository)
	result := o.run("")["acme/gitops"]
	text := fmt.Sprint(result.Report.Errors, gatesOf(result.Report, "dev"), result.Report.Effects)
	if !strings.Contains(text, "members=read") || repository.Pulls.Get(1).Merged {
		t.Errorf("got %s, merged %t", text, repository.Pulls.Get(1).Merged)
	}
}
