package gitlab_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm"
	"promoter/internal/scm/gitlab/gitlabtest"
)

// The jobs of a pipeline that our push triggered have our account as their author,
// and are not our status: a gate may wait for them.
func TestChecks_jobsOfOurPushAreNotOurs(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	signals, head := b.open(t).Signals(), b.push("image: web:2\n")
	b.project.SetJob(gitlabtest.Self, head, "e2e", "success", false)
	if err := signals.SetStatus(t.Context(), head, scm.Status{Context: "promoter", State: scm.CheckPending}); err != nil {
		t.Fatal(err)
	}
	for _, check := range checksOf(t, signals, head) {
		if check.Own != (check.Name == "promoter") {
			t.Errorf("%+v", check)
		}
	}
}

func checksOf(t *testing.T, signals scm.Signals, commit string) []scm.Check {
	t.Helper()
	checks, err := signals.Checks(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	return checks
}

// With several pipelines of one commit, the latest of each ref counts, and the worst
// of all refs.
func TestChecks_severalPipelines(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	signals, head := b.open(t).Signals(), b.push("image: web:2\n")
	for _, run := range []struct{ ref, state string }{
		{branch, "failed"}, {"refs/merge-requests/1/head", "running"}, {branch, "success"},
	} {
		b.project.AddPipeline(head, run.ref)
		b.project.SetJob("ann", head, "e2e", run.state, false)
	}
	b.project.SetJob("ann", head, "deploy", "manual", true)
	b.project.SetJob("ann", head, "release", "manual", false)
	b.project.SetJob("ann", head, "lint", "failed", true)
	got := map[string]scm.CheckState{}
	for _, check := range checksOf(t, signals, head) {
		got[check.Name] = check.State
	}
	want := map[string]scm.CheckState{
		"e2e": scm.CheckPending, "deploy": scm.CheckPassed, "release": scm.CheckPending, "lint": scm.CheckPassed,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// GitLab refuses to set a pending status to pending; its description changes
// nevertheless, and there is one status throughout, in one pipeline.
func TestSetStatus_wordsOfWhatIsPending(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	head := b.push("image: web:2\n")
	b.project.AddPipeline(head, branch)
	for i, words := range []string{"first", "second", "third", "third", "fourth"} {
		if i == 2 {
			b.project.AddPipeline(head, "refs/merge-requests/1/head") // a newer one does not move ours
		}
		signals := b.open(t).Signals()
		if err := signals.SetStatus(t.Context(), head, scm.Status{Context: "promoter", State: scm.CheckPending, Description: words}); err != nil {
			t.Fatalf("%s: %v", words, err)
		}
		found := checksOf(t, signals, head)
		if len(found) != 1 || found[0].State != scm.CheckPending || found[0].Description != words || !found[0].Own {
			t.Errorf("%s: %+v", words, found)
		}
	}
	if err := b.open(t).Signals().SetStatus(t.Context(), head, scm.Status{Context: "promoter", State: scm.CheckPassed}); err != nil {
		t.Fatal(err)
	}
	if state := b.project.Statuses(head)["promoter"].State; state != "success" {
		t.Errorf("in the end %s", state)
	}
}

// Two processes set the same status: the refusal of the second one is not an error.
func TestSetStatus_twoProcesses(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	head := b.push("image: web:2\n")
	one, two := b.open(t).Signals(), b.open(t).Signals()
	status := scm.Status{Context: "promoter", State: scm.CheckPending, Description: "waiting"}
	for _, signals := range []scm.Signals{one, two} { // both read before either writes
		checksOf(t, signals, head)
	}
	for _, signals := range []scm.Signals{one, two} {
		if err := signals.SetStatus(t.Context(), head, status); err != nil {
			t.Error(err)
		}
	}
	if found := checksOf(t, one, head); len(found) != 1 {
		t.Errorf("%+v", found)
	}
}

func TestSetStatus_longAddress(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	head := b.push("image: web:2\n")
	status := scm.Status{Context: strings.Repeat("ü", 300), State: scm.CheckFailed, URL: "https://promoter.example.com/" + strings.Repeat("x", 300)}
	if err := b.open(t).Signals().SetStatus(t.Context(), head, status); err != nil {
		t.Error(err)
	}
}
