package app_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/config"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm/github/githubtest"
)

// onboards lets the repositories of an App be offered a config file.
const onboards = "onboarding: {repositories: [\"*/acme/*\"]}\n"

// onboardingHead is the branch of the offer; it must not change.
const onboardingHead = "promoter/_onboarding"

// without is a GitOps repository without a config file.
func without() map[string]string {
	return map[string]string{
		"README":             "words\n",
		"apps/dev/web.yaml":  "kind: Deployment\nimage: $R/acme/web:1.4.0\n",
		"apps/prod/web.yaml": "kind: Deployment\nimage: $R/acme/web:1.4.0\n",
	}
}

// offered checks the result of a repository, in words.
func (o *orchard) offered(results map[string]app.Result, name, want string) {
	o.t.Helper()
	got := "nothing"
	if result, ok := results[name]; ok {
		switch {
		case result.Onboarding == nil:
			got = "failed: " + fmt.Sprint(result.Err)
		default:
			got = string(result.Onboarding.State)
			if reason := result.Onboarding.Reason; reason != "" {
				got += ": " + reason
			}
		}
	}
	if got != want {
		o.t.Errorf("%s: %q, want %q", name, got, want)
	}
}

// idle checks that a run sends no request that changes anything.
func (o *orchard) idle(what string) {
	o.t.Helper()
	o.github.Traffic.ResetRequests()
	o.run(onboards)
	for route, n := range o.github.Traffic.Requests() {
		if changes(route) && !strings.Contains(route, "access_tokens") {
			o.t.Errorf("%s: a run asks %s %d times", what, route, n)
		}
	}
}

// loses deletes all that promoter caches.
func (o *orchard) loses() { o.cache = o.t.TempDir() }

// A repository with manifests and no config file gets one pull request that explains
// itself. All others get none. After the merge the repository is reconciled.
func TestRun_onboarding(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	gitops := o.repository("acme/gitops", without())
	quiet := map[string]*githubtest.Repository{
		"nothing to follow": o.repository("acme/docs", map[string]string{"README": "words"}),
		"archived":          o.repository("acme/old", without()),
		"another owner":     o.repository("globex/gitops", without()),
		"has a config":      o.repository("acme/ready", webIn("pr")),
		"not installed":     o.repository("initech/gitops", without()),
	}
	quiet["archived"].Settings.SetArchived(true)
	quiet["a fork"] = gitops.Fork("acme", "forked")
	o.app.Install("acme")
	o.app.Install("globex")
	o.pass(time.Hour)

	if results := o.run(""); len(results) != 1 || len(gitops.Pulls.All()) > 0 {
		t.Fatalf("without leave of the server file: %v, %+v", results, gitops.Pulls.All())
	}
	results := o.run(onboards)
	o.offered(results, "acme/gitops", "opened")
	if failed := results["acme/gitops"]; failed.Failed() {
		t.Error("an offer is taken for a failure")
	}
	for what, r := range quiet {
		if n := len(r.Pulls.All()); n > 0 && what != "has a config" {
			t.Errorf("%s: %d pull requests", what, n)
		}
	}
	pulls := gitops.Pulls.All()
	if len(pulls) != 1 || pulls[0].Head != onboardingHead || pulls[0].Base != "main" || pulls[0].Author != "promoter[bot]" {
		t.Fatalf("pull requests: %+v", pulls)
	}
	for _, words := range []string{
		"`web`", o.expand("`$R/acme/web`"), "`apps/dev/web.yaml` | 1", "after `dev`", "**The first reconciliation**", "dev: 1 promotion to propose: `dev: web 1.4.0 -> 1.5.0`", "**Close it** to decline", "**After the merge**",
	} {
		if !strings.Contains(pulls[0].Body, words) {
			t.Errorf("the text does not say %q:\n%s", words, pulls[0].Body)
		}
	}
	if files := gitops.Git.Run("diff", "--name-only", "main", onboardingHead); files != ".promoter.yaml" {
		t.Errorf("it changes %s", files)
	}
	if by := gitops.Git.Run("log", "--format=%an %cn", "main.."+onboardingHead); by != "promoter[bot] promoter[bot]" {
		t.Errorf("its commits are by %s", by)
	}
	text := gitops.Git.Run("show", onboardingHead+":.promoter.yaml")
	if _, problems := config.Load(".promoter.yaml", []byte(text)); problems.Err() != nil {
		t.Errorf("the config does not load: %v\n%s", problems.Err(), text)
	}
	o.idle("it stands")
	o.loses()
	o.idle("it stands, and nothing is remembered")

	gitops.Pulls.Merge("ann", 1, "squash")
	o.pass(time.Hour)
	if got := did(o.run(onboards)["acme/gitops"]); got != fmt.Sprint([]outcome.Action{outcome.ActionOpened}) {
		t.Errorf("after the merge: %s", got)
	}
}

// Closing it declines for good, which the forge itself remembers, also if a config was
// merged and deleted again.
func TestRun_onboarding_declined(t *testing.T) {
	t.Parallel()
	for name, decline := range map[string]func(*githubtest.Repository){
		"closed":             func(r *githubtest.Repository) { r.Pulls.Close("ann", 1) },
		"closed by promoter": func(r *githubtest.Repository) { r.Pulls.Close("promoter[bot]", 1) },
		"branch deleted":     func(r *githubtest.Repository) { r.Git.DeleteBranch("ann", onboardingHead) },
		"merged, and removed": func(r *githubtest.Repository) {
			r.Pulls.Merge("ann", 1, "merge")
			r.Git.DeleteBranch("ann", onboardingHead)
			r.Git.SetHead("ann", "main", strings.Fields(r.Git.Run("rev-list", "--max-parents=0", "main"))[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrchard(t)
			r := o.repository("acme/gitops", without())
			o.app.Install("acme")
			o.run(onboards)
			decline(r)
			for range 2 {
				o.loses()
				o.pass(24 * time.Hour)
				o.idle("declined")
				r.Git.Commit("ann", "main", "More", map[string]string{"apps/dev/more.yaml": o.expand("image: $R/acme/more:1.0.0\n")})
			}
			if n := len(r.Pulls.All()); n != 1 {
				t.Errorf("there are %d pull requests", n)
			}
		})
	}
}

// A cached outcome costs nothing: a run only requests the lists.
func TestRun_onboarding_isCached(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	o.repository("acme/gitops", without())
	o.repository("acme/docs", map[string]string{"README": "words"})
	o.repository("acme/declined", without())
	o.app.Install("acme")
	o.run(onboards)
	o.github.Repository("acme/declined").Pulls.Close("ann", 1)
	o.pass(time.Hour)
	o.run(onboards)
	o.github.Traffic.ResetRequests()
	o.run(onboards)
	want := []string{"GET /app", "GET /app/installations", "GET /installation/repositories", "POST /app/installations/{id}/access_tokens"}
	if got := slices.Sorted(maps.Keys(o.github.Traffic.Requests())); !slices.Equal(got, want) {
		t.Errorf("asked %v", got)
	}
}

// The pull request is refused after the push, or its response is lost: there is one in
// the end, for the head that was pushed first.
func TestRun_onboarding_interrupted(t *testing.T) {
	t.Parallel()
	const route = "POST /repos/{owner}/{repo}/pulls"
	for name, lost := range map[string]bool{"killed between": false, "response lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrchard(t)
			r := o.repository("acme/gitops", without())
			o.app.Install("acme")
			if lost {
				o.github.Traffic.Lose(route)
				o.offered(o.run(onboards), "acme/gitops", "opened")
			} else {
				o.github.Fail(route, http.StatusInternalServerError, "Something went wrong")
				if failed := o.run(onboards)["acme/gitops"]; failed.Err == nil || len(r.Pulls.All()) > 0 {
					t.Fatalf("got %+v, %+v", failed, r.Pulls.All())
				}
			}
			head := r.Git.Head(onboardingHead)
			o.loses()
			if !lost {
				o.offered(o.run(onboards), "acme/gitops", "opened")
			}
			o.idle("opened")
			if pulls := r.Pulls.All(); len(pulls) != 1 || pulls[0].HeadCommit != head || head == "" {
				t.Errorf("pull requests: %+v, the head was %s", pulls, head)
			}
		})
	}
}

// A branch that promoter may not create is not requested by each run, and does not
// affect other repositories.
func TestRun_onboarding_refused(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	r := o.repository("acme/gitops", without())
	o.repository("acme/empty", nil)
	other := o.repository("acme/other", without())
	r.Protect(onboardingHead, githubtest.Protection{PushDenied: true})
	o.app.Install("acme")
	o.pass(time.Hour)
	if failed := o.run(onboards)["acme/gitops"]; failed.Err == nil || !failed.Failed() || len(r.Pulls.All()) > 0 || len(other.Pulls.All()) != 1 {
		t.Errorf("got %+v, %d, %d", failed, len(r.Pulls.All()), len(other.Pulls.All()))
	}
	o.pass(10 * time.Minute)
	before := len(o.github.Asked())
	o.run(onboards)
	for _, asked := range o.github.Asked()[before:] {
		if asked.Repository == "acme/gitops" || asked.Repository == "acme/empty" {
			t.Errorf("%s of %s was asked", asked.Route, asked.Repository)
		}
	}
}

// What the first reconciliation will do is announced, and much at once begins with few pull
// requests. Its result is the same as that of a run after the merge.
func TestRun_onboarding_manyPromotions(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	files := map[string]string{}
	for i := range 12 {
		for _, environment := range []string{"dev", "prod"} {
			files[fmt.Sprintf("apps/app-%02d/%s/web.yaml", i, environment)] = "kind: Deployment\nimage: $R/acme/web:1.4.0\n"
		}
	}
	gitops := o.repository("acme/gitops", files)
	o.app.Install("acme")
	o.pass(time.Hour)
	o.offered(o.run(onboards), "acme/gitops", "opened")
	body := gitops.Pulls.All()[0].Body
	for _, words := range []string{"dev: 3 promotions to propose: `app-00 in dev: web 1.4.0 -> 1.5.0`", "dev: 9 promotions waiting, the first because: ", "at most 3 pull requests are open at a time"} {
		if !strings.Contains(body, words) {
			t.Errorf("the text does not say %q:\n%s", words, body)
		}
	}
	if text := gitops.Git.Run("show", onboardingHead+":.promoter.yaml"); !strings.Contains(text, "pullRequest: {limit: 3}") {
		t.Errorf("the config begins with everything:\n%s", text)
	}
	o.loses()
	gitops.Git.Commit("ann", "main", "More", map[string]string{"README": "words"})
	o.idle("it stands, although another commit was pushed")

	gitops.Pulls.Merge("ann", 1, "squash")
	o.pass(time.Hour)
	o.run(onboards)
	if n := len(gitops.Pulls.All()) - 1; n != 3 {
		t.Errorf("%d pull requests are opened, 3 were announced", n)
	}
}
