package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/scm/github/githubtest"
)

// The base moves: promoter pushes only if the suggested settings change, and never over
// commits or edits of a user.
func TestRun_onboarding_baseMoves(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	r := o.repository("acme/gitops", without())
	o.app.Install("acme")
	o.run(onboards)
	head := r.Pulls.Get(1).HeadCommit
	r.Git.Commit("ann", "main", "Elsewhere", map[string]string{"README": "more words\n"})
	o.pass(time.Hour)
	o.offered(o.run(onboards), "acme/gitops", "open")
	if r.Pulls.Get(1).HeadCommit != head {
		t.Error("it was pushed although the settings are the same")
	}
	body := "My words.\n\n" + r.Pulls.Get(1).Body
	r.Pulls.Edit(1, nil, &body)
	r.Git.Commit("ann", "main", "An API", map[string]string{"apps/dev/api.yaml": o.expand("image: $R/acme/api:2.0.0\n"), "apps/prod/api.yaml": o.expand("image: $R/acme/api:2.0.0\n")})
	o.pass(time.Hour)
	o.offered(o.run(onboards), "acme/gitops", "refreshed")
	now := r.Pulls.Get(1)
	if now.HeadCommit == head || !strings.HasPrefix(now.Body, "My words.\n") || !strings.Contains(now.Body, "`api`") {
		t.Errorf("it was not refreshed:\n%s", now.Body)
	}
	if n := r.Git.Run("rev-list", "--count", "main.."+onboardingHead); n != "1" {
		t.Errorf("it has %s commits over main", n)
	}
	o.idle("refreshed")
	mine := r.Git.Commit("ann", onboardingHead, "My settings", map[string]string{".promoter.yaml": "version: 1\n"})
	r.Git.Commit("ann", "main", "Another", map[string]string{"apps/dev/b.yaml": o.expand("image: $R/acme/b:2.0.0\n")})
	o.pass(2 * time.Hour)
	o.offered(o.run(onboards), "acme/gitops", "left alone: the branch promoter/_onboarding has a commit of ann")
	if r.Git.Head(onboardingHead) != mine {
		t.Error("the work of a person was overwritten")
	}
}

// Two hundred repositories are not offered a config at once: a few in each run, the
// others wait.
func TestRun_onboarding_isLimited(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	var all []*githubtest.Repository
	for i := range 7 {
		all = append(all, o.repository(fmt.Sprintf("acme/gitops-%d", i), without()))
	}
	o.app.Install("acme")
	opened := func() (n int) {
		for _, r := range all {
			n += len(r.Pulls.All())
		}
		return n
	}
	o.run(onboards)
	if n := opened(); n != 5 {
		t.Errorf("%d were opened in the first pass", n)
	}
	if want := "repositories without .promoter.yaml that wait for an onboarding pull request: 2; at most 5 are opened at a time"; !slices.Contains(o.notes, want) {
		t.Errorf("the notes are %q", o.notes)
	}
	o.run(onboards)
	if n := opened(); n != 7 {
		t.Errorf("%d were opened in two passes", n)
	}
	o.loses()
	o.idle("all are open")
}

// A user already works on it.
func TestRun_onboarding_userAddsAConfig(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	r := o.repository("acme/gitops", without())
	r.Git.Commit("ann", "add-promoter", "Add it", map[string]string{".promoter.yaml": "version: 1\n"})
	r.Pulls.Open("ann", "add-promoter", "main", "Use promoter")
	other := o.repository("acme/taken", without())
	other.Git.Commit("eve", onboardingHead, "Mine", map[string]string{"x": "y\n"})
	o.app.Install("acme")
	results := o.run(onboards)
	o.offered(results, "acme/gitops", "left alone: pull request #1 adds .promoter.yaml")
	o.offered(results, "acme/taken", "left alone: the branch promoter/_onboarding has a commit of eve")
	o.idle("in hand")
	r.Pulls.Close("ann", 1)
	o.pass(2 * time.Hour)
	o.offered(o.run(onboards), "acme/gitops", "opened")
}

func TestRun_onboarding_dryRun(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	r := o.repository("acme/gitops", without())
	o.app.Install("acme")
	o.dryRun = true
	results := o.run(onboards)
	o.offered(results, "acme/gitops", "to be opened")
	if text := results["acme/gitops"].Onboarding.Config; !strings.Contains(text, "version: 1") {
		t.Errorf("it does not say what it would be:\n%s", text)
	}
	o.idle("a dry run")
	if r.Git.Head(onboardingHead) != "" || len(r.Pulls.All()) > 0 {
		t.Error("a dry run wrote")
	}
}
