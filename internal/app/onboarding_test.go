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
	"promoter/internal/promotion/engine"
	"promoter/internal/scm/github/githubtest"
)

// onboards lets an App's repositories be offered a config file.
const onboards = "onboarding: {repositories: [\"*/acme/*\"]}\n"

// onboardingHead is the branch of the offer; it must not change.
const onboardingHead = "promoter/_onboarding"

// without is a GitOps repository that nobody gave a config file.
func without() map[string]string {
	return map[string]string{
		"README":             "words\n",
		"apps/dev/web.yaml":  "kind: Deployment\nimage: $R/acme/web:1.4.0\n",
		"apps/prod/web.yaml": "kind: Deployment\nimage: $R/acme/web:1.4.0\n",
	}
}

// offered checks what came of a repository, in words.
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

// idle checks that a run asks for nothing that changes anything.
func (o *orchard) idle(what string) {
	o.t.Helper()
	o.github.ResetRequests()
	o.run(onboards)
	for route, n := range o.github.Requests() {
		if changes(route) && !strings.Contains(route, "access_tokens") {
			o.t.Errorf("%s: a run asks %s %d times", what, route, n)
		}
	}
}

// loses lets promoter lose all that it remembers but what is on the forge.
func (o *orchard) loses() { o.cache = o.t.TempDir() }

// A repository with manifests and no config file gets one pull request that explains
// itself. All others get none. Once it is merged the repository is worked on.
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
	quiet["archived"].SetArchived(true)
	quiet["a fork"] = gitops.Fork("acme", "forked")
	o.app.Install("acme")
	o.app.Install("globex")
	o.pass(time.Hour)

	if results := o.run(""); len(results) != 1 || len(gitops.Pulls()) > 0 {
		t.Fatalf("without leave of the server's file: %v, %+v", results, gitops.Pulls())
	}
	results := o.run(onboards)
	o.offered(results, "acme/gitops", "opened")
	if failed := results["acme/gitops"]; failed.Failed() {
		t.Error("an offer is taken for a failure")
	}
	for what, r := range quiet {
		if n := len(r.Pulls()); n > 0 && what != "has a config" {
			t.Errorf("%s: %d pull requests", what, n)
		}
	}
	pulls := gitops.Pulls()
	if len(pulls) != 1 || pulls[0].Head != onboardingHead || pulls[0].Base != "main" || pulls[0].Author != "promoter[bot]" {
		t.Fatalf("pull requests: %+v", pulls)
	}
	for _, words := range []string{
		"`web`", o.expand("`$R/acme/web`"), "`apps/dev/web.yaml` | 1", "after `dev`", "`web 1.4.0 -> 1.5.0`", "**Close it** to decline", "**What happens after the merge**",
	} {
		if !strings.Contains(pulls[0].Body, words) {
			t.Errorf("the text does not say %q:\n%s", words, pulls[0].Body)
		}
	}
	if files := gitops.Git("diff", "--name-only", "main", onboardingHead); files != ".promoter.yaml" {
		t.Errorf("it changes %s", files)
	}
	if by := gitops.Git("log", "--format=%an %ce", "main.."+onboardingHead); by != "promoter promoter@noreply.invalid" {
		t.Errorf("its commits are by %s", by)
	}
	text := gitops.Git("show", onboardingHead+":.promoter.yaml")
	if _, problems := config.Load(".promoter.yaml", []byte(text)); problems.Err() != nil {
		t.Errorf("the config does not load: %v\n%s", problems.Err(), text)
	}
	o.idle("it stands")
	o.loses()
	o.idle("it stands, and nothing is remembered")

	gitops.MergePull("ann", 1, "squash")
	o.pass(time.Hour)
	if got := did(o.run(onboards)["acme/gitops"]); got != fmt.Sprint([]engine.Act{engine.ActOpened}) {
		t.Errorf("after the merge: %s", got)
	}
}

// Whoever closes it declines for good: the forge itself remembers it. So it does when
// a config was merged and is gone again.
func TestRun_onboarding_P03_declined(t *testing.T) {
	t.Parallel()
	for name, decline := range map[string]func(*githubtest.Repository){
		"closed":             func(r *githubtest.Repository) { r.ClosePull("ann", 1) },
		"closed by promoter": func(r *githubtest.Repository) { r.ClosePull("promoter[bot]", 1) },
		"branch deleted":     func(r *githubtest.Repository) { r.DeleteBranch("ann", onboardingHead) },
		"merged, and removed": func(r *githubtest.Repository) {
			r.MergePull("ann", 1, "merge")
			r.DeleteBranch("ann", onboardingHead)
			r.SetHead("ann", "main", strings.Fields(r.Git("rev-list", "--max-parents=0", "main"))[0])
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
				r.Commit("ann", "main", "More", map[string]string{"apps/dev/more.yaml": o.expand("image: $R/acme/more:1.0.0\n")})
			}
			if n := len(r.Pulls()); n != 1 {
				t.Errorf("there are %d pull requests", n)
			}
		})
	}
}

// What is known costs nothing: a run asks for the lists alone.
func TestRun_onboarding_rememberedCostsNothing(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	o.repository("acme/gitops", without())
	o.repository("acme/docs", map[string]string{"README": "words"})
	o.repository("acme/declined", without())
	o.app.Install("acme")
	o.run(onboards)
	o.github.Repository("acme/declined").ClosePull("ann", 1)
	o.pass(time.Hour)
	o.run(onboards)
	o.github.ResetRequests()
	o.run(onboards)
	want := []string{"GET /app", "GET /app/installations", "GET /installation/repositories", "POST /app/installations/{id}/access_tokens"}
	if got := slices.Sorted(maps.Keys(o.github.Requests())); !slices.Equal(got, want) {
		t.Errorf("asked %v", got)
	}
}

// promoter is killed between the push and the pull request: the next pass goes on
// from there, and pushes nothing again.
func TestRun_onboarding_P13_killedBetween(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	r := o.repository("acme/gitops", without())
	o.app.Install("acme")
	o.github.Fail("POST /repos/{owner}/{repo}/pulls", http.StatusInternalServerError, "Something went wrong")
	if failed := o.run(onboards)["acme/gitops"]; failed.Err == nil || len(r.Pulls()) > 0 {
		t.Fatalf("got %+v, %+v", failed, r.Pulls())
	}
	head := r.Head(onboardingHead)
	o.loses()
	o.offered(o.run(onboards), "acme/gitops", "opened")
	if pulls := r.Pulls(); len(pulls) != 1 || pulls[0].HeadCommit != head || head == "" {
		t.Errorf("pull requests: %+v, the head was %s", pulls, head)
	}
	o.idle("opened")
}

// The answer to the creation is lost: there is one pull request.
func TestRun_onboarding_P13_answerLost(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	r := o.repository("acme/gitops", without())
	o.app.Install("acme")
	o.github.Lose("POST /repos/{owner}/{repo}/pulls")
	o.offered(o.run(onboards), "acme/gitops", "opened")
	o.loses()
	o.idle("opened")
	if n := len(r.Pulls()); n != 1 {
		t.Errorf("there are %d pull requests", n)
	}
}

// The base moves: only settings that would be others are worth a push, and never over
// the work of a person, whose words stay too.
func TestRun_onboarding_P02_P08_baseMoves(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	r := o.repository("acme/gitops", without())
	o.app.Install("acme")
	o.run(onboards)
	head := r.Pull(1).HeadCommit
	r.Commit("ann", "main", "Elsewhere", map[string]string{"README": "more words\n"})
	o.pass(time.Hour)
	o.offered(o.run(onboards), "acme/gitops", "open")
	if r.Pull(1).HeadCommit != head {
		t.Error("it was pushed although the settings are the same")
	}
	body := "My words.\n\n" + r.Pull(1).Body
	r.EditPull(1, nil, &body)
	r.Commit("ann", "main", "An API", map[string]string{"apps/dev/api.yaml": o.expand("image: $R/acme/api:2.0.0\n"), "apps/prod/api.yaml": o.expand("image: $R/acme/api:2.0.0\n")})
	o.pass(time.Hour)
	o.offered(o.run(onboards), "acme/gitops", "refreshed")
	now := r.Pull(1)
	if now.HeadCommit == head || !strings.HasPrefix(now.Body, "My words.\n") || !strings.Contains(now.Body, "`api`") {
		t.Errorf("it was not refreshed:\n%s", now.Body)
	}
	if n := r.Git("rev-list", "--count", "main.."+onboardingHead); n != "1" {
		t.Errorf("it has %s commits over main", n)
	}
	o.idle("refreshed")
	mine := r.Commit("ann", onboardingHead, "My settings", map[string]string{".promoter.yaml": "version: 1\n"})
	r.Commit("ann", "main", "Another", map[string]string{"apps/dev/b.yaml": o.expand("image: $R/acme/b:2.0.0\n")})
	o.pass(2 * time.Hour)
	o.offered(o.run(onboards), "acme/gitops", "left alone: the branch promoter/_onboarding holds a commit of ann")
	if r.Head(onboardingHead) != mine {
		t.Error("the work of a person was overwritten")
	}
}

// Two hundred repositories get no storm: a few in each pass, the others wait in line.
func TestRun_onboarding_P18_noStorm(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	var all []*githubtest.Repository
	for i := range 7 {
		all = append(all, o.repository(fmt.Sprintf("acme/gitops-%d", i), without()))
	}
	o.app.Install("acme")
	opened := func() (n int) {
		for _, r := range all {
			n += len(r.Pulls())
		}
		return n
	}
	o.run(onboards)
	if n := opened(); n != 5 {
		t.Errorf("%d were opened in the first pass", n)
	}
	if want := "2 without .promoter.yaml wait in line: at most 5 onboarding pull requests are opened in one pass"; !slices.Contains(o.notes, want) {
		t.Errorf("the notes are %q", o.notes)
	}
	o.run(onboards)
	if n := opened(); n != 7 {
		t.Errorf("%d were opened in two passes", n)
	}
	o.loses()
	o.idle("all are open")
}

// Somebody is at it already.
func TestRun_onboarding_P02_aPersonAddsOne(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	r := o.repository("acme/gitops", without())
	r.Commit("ann", "add-promoter", "Add it", map[string]string{".promoter.yaml": "version: 1\n"})
	r.OpenPull("ann", "add-promoter", "main", "Use promoter")
	other := o.repository("acme/taken", without())
	other.Commit("eve", onboardingHead, "Mine", map[string]string{"x": "y\n"})
	o.app.Install("acme")
	results := o.run(onboards)
	o.offered(results, "acme/gitops", "left alone: pull request #1 adds .promoter.yaml")
	o.offered(results, "acme/taken", "left alone: the branch promoter/_onboarding holds a commit of eve")
	o.idle("in hand")
	r.ClosePull("ann", 1)
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
	if r.Head(onboardingHead) != "" || len(r.Pulls()) > 0 {
		t.Error("a dry run wrote")
	}
}

// Names in a repository are anybody's: none of them calls or refers to anybody.
func TestRun_onboarding_T12_outsideTextIsHarmless(t *testing.T) {
	t.Parallel()
	o := newOrchard(t)
	r := o.repository("acme/gitops", map[string]string{
		"dev/@ann #1 --> <img>.yaml": "image: $R/acme/web:1.4.0\n", "prod/@ann #1 --> <img>.yaml": "image: $R/acme/web:1.4.0\n",
	})
	o.app.Install("acme")
	o.run(onboards)
	body := r.Pull(1).Body
	inside, _, _ := strings.Cut(strings.TrimPrefix(body, "<!-- promoter:begin -->"), "<!-- promoter:end -->")
	for _, sign := range []string{"@ann", "#1", "-->"} {
		if strings.Contains(inside, sign) {
			t.Errorf("the text holds %s:\n%s", sign, body)
		}
	}
}
