package gitlab_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/identity"
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

func own(checks []scm.Check) []scm.Check {
	return slices.DeleteFunc(checks, func(one scm.Check) bool { return !one.Own })
}

// Our status is in the pipeline that GitLab evaluates for the merge request: the newest
// one, also if it runs on the result of the merge. In an earlier one it would block nothing.
func TestSetStatus_followsTheHeadPipeline(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	made := b.propose(t, b.open(t))
	status := scm.Status{Context: "promoter", State: scm.CheckFailed, Description: "on hold"}
	set := func(commit string) {
		t.Helper()
		repository := b.open(t)
		if _, err := repository.PullRequests().Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		signals := repository.Signals()
		if found := own(checksOf(t, signals, made.Head.Commit)); len(found) != 0 {
			t.Errorf("before, ours are %+v", found)
		}
		if err := signals.SetStatus(t.Context(), made.Head.Commit, status); err != nil {
			t.Fatal(err)
		}
		if got := b.project.Statuses(commit)["promoter"]; got.State != "failed" {
			t.Errorf("in the pipeline of %s: %+v", commit, b.project.Statuses(commit))
		}
		if found := own(checksOf(t, b.opened(t), made.Head.Commit)); len(found) != 1 {
			t.Errorf("then, ours are %+v", found)
		}
		before := b.Traffic.Requests()["POST /projects/{id}/statuses/{sha}"]
		if err := b.opened(t).SetStatus(t.Context(), made.Head.Commit, status); err != nil || b.Traffic.Requests()["POST /projects/{id}/statuses/{sha}"] != before {
			t.Errorf("set again: %v", err)
		}
	}
	set(made.Head.Commit)
	b.project.AddPipeline(made.Head.Commit, "refs/merge-requests/1/head")
	b.project.SetJob("ann", made.Head.Commit, "e2e", "success", false)
	set(made.Head.Commit)
	merged := b.project.RunMerged(made.Number, "integration", "failed")
	set(merged)
	found := slices.ContainsFunc(checksOf(t, b.opened(t), made.Head.Commit), func(one scm.Check) bool {
		return one.Name == "integration" && one.State == scm.CheckFailed
	})
	if !found {
		t.Error("the job of the merged results pipeline is not among the checks")
	}
	b.push("image: web:3\n") // GitLab still reports the pipeline of the earlier head
	b.project.Set(func(s *gitlabtest.Settings) { s.CI = "" })
	repository := b.open(t)
	open, err := repository.PullRequests().Open(t.Context())
	if err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	if err := repository.Signals().SetStatus(t.Context(), open[0].Head.Commit, status); !errors.Is(err, scm.ErrStatusNotStored) {
		t.Error(err)
	}
	if found := b.project.Statuses(open[0].Head.Commit); len(found) != 0 {
		t.Errorf("statuses of the new head: %v", found)
	}
}

// opened returns the signals of the project, with its open merge requests.
func (b *bench) opened(t *testing.T) scm.Signals {
	t.Helper()
	repository := b.open(t)
	if _, err := repository.PullRequests().Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return repository.Signals()
}

// A Developer may not change the pipelines of a protected branch.
func TestSetStatus_protectedHead(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	head := b.push("image: web:2\n")
	b.project.Protect(branch, gitlabtest.Protection{Push: gitlabtest.Maintainer, Merge: gitlabtest.Maintainer})
	status := scm.Status{Context: "promoter", State: scm.CheckPassed}
	if err := b.open(t).Signals().SetStatus(t.Context(), head, status); !errors.Is(err, scm.ErrProtectedHead) || fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("got %v", err)
	}
	b.project.Settings.Permit(gitlabtest.Self, gitlabtest.Reporter)
	if err := b.open(t).Signals().SetStatus(t.Context(), head, status); err == nil || errors.Is(err, scm.ErrProtectedHead) {
		t.Errorf("without the role: %v", err)
	}
}

// A merge request that GitLab is merging is open.
func TestOpen_locked(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	made := b.propose(t, b.open(t))
	for _, locked := range []bool{true, false} {
		b.project.Lock(made.Number, locked)
		open, err := b.open(t).PullRequests().Open(t.Context())
		if err != nil || len(open) != 1 || open[0].State != scm.StateOpen {
			t.Errorf("locked %t: %+v, %v", locked, open, err)
		}
	}
}

// A team is the direct members of a group who may push.
func TestMember_directAndAtLeastDeveloper(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	b.SetGroup("acme/sre", "ann", "bob")
	b.SetRole("acme/sre", "bob", gitlabtest.Reporter)
	for login, want := range map[string]bool{"ann": true, "bob": false, "eve": false} {
		got, err := b.open(t).Signals().Member(t.Context(), "acme/sre", identity.User{Host: b.Host(), Login: login})
		if err != nil || got != want {
			t.Errorf("%s: %t, %v", login, got, err)
		}
	}
}

// An approval rule of a security policy binds only a merge request that violates it.
func TestRules_ofSecurityPolicies(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	b.project.Set(func(s *gitlabtest.Settings) {
		s.Rules = []gitlabtest.ApprovalRule{{Name: "sre", Required: 1}, {Name: "policy", Required: 3, Type: "report_approver"}}
	})
	rules, err := b.open(t).(scm.Ruled).Rules(t.Context(), "main")
	if err != nil || rules.Approvals != 1 {
		t.Errorf("got %+v, %v", rules, err)
	}
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
// nevertheless, and there is one status throughout, in the newest pipeline.
func TestSetStatus_wordsOfWhatIsPending(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	head := b.push("image: web:2\n")
	for i, words := range []string{"first", "second", "third", "third", "fourth"} {
		if i == 2 {
			b.project.AddPipeline(head, "refs/merge-requests/1/head")
			b.project.SetJob("ann", head, "e2e", "success", false)
		}
		signals := b.open(t).Signals()
		if err := signals.SetStatus(t.Context(), head, scm.Status{Context: "promoter", State: scm.CheckPending, Description: words}); err != nil {
			t.Fatalf("%s: %v", words, err)
		}
		found := own(checksOf(t, signals, head))
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
	if found := own(checksOf(t, one, head)); len(found) != 1 {
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
