package github_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/github/githubtest"
)

// GitHub rejects a new token of an installation for some seconds, or does not find private repositories. The token is not used
// before GitHub knows it, and a request is repeated with the same token.
func TestTokens_newOneIsNotKnownEverywhere(t *testing.T) {
	t.Parallel()
	const late = time.Minute
	for _, test := range []struct {
		as    githubtest.Late
		delay time.Duration
		want  fault.Kind
	}{
		{githubtest.LateUnauthorized, time.Second, ""},
		{githubtest.LateUnauthorized, 7 * time.Second, ""},
		{githubtest.LateUnauthorized, late, fault.Unauthorized},
		{githubtest.LateNotFound, time.Second, ""},
		{githubtest.LateNotFound, 7 * time.Second, ""},
		{githubtest.LateNotFound, late, fault.NotFound},
		{githubtest.LateInRepositories, time.Second, ""},
		{githubtest.LateInRepositories, 7 * time.Second, ""},
		{githubtest.LateInRepositories, late, fault.NotFound},
	} {
		t.Run(fmt.Sprint(test.as, " ", test.delay), func(t *testing.T) {
			t.Parallel()
			w, _, forge := newInstalled(t)
			w.DelayTokens(test.delay, test.as)
			before := w.clock.now()
			if err := open(t, forge); fault.KindOf(err) != test.want {
				t.Errorf("got %v", err)
			}
			if waited := w.clock.now().Sub(before); waited < min(test.delay, 7*time.Second) || waited > 7*time.Second {
				t.Errorf("waited %v", waited)
			}
			if n := w.Traffic.Requests()[tokenRoute]; n != 1 {
				t.Errorf("%d tokens were asked for", n)
			}
		})
	}
}

// Git gets no token that GitHub does not know, and one whose check failed for other reasons.
func TestTokens_knownBeforeGitGetsThem(t *testing.T) {
	t.Parallel()
	w, _, forge := newInstalled(t)
	w.DelayTokens(3*time.Second, githubtest.LateNotFound)
	before := w.clock.now()
	if _, err := forge.Token(t.Context()); err != nil {
		t.Fatal(err)
	}
	if waited := w.clock.now().Sub(before); waited != 3*time.Second {
		t.Errorf("waited %v", waited)
	}
	w.clock.pass(time.Hour)
	w.Fail("GET /installation/repositories", http.StatusBadGateway, "Server Error")
	if _, err := forge.Token(t.Context()); err != nil {
		t.Error(err)
	}
}

// A repository that is not there is reported at once, except just after the token was created.
func TestTokens_repositoryIsNotThere(t *testing.T) {
	t.Parallel()
	w, _, forge := newInstalled(t)
	if err := open(t, forge); err != nil {
		t.Fatal(err)
	}
	w.clock.pass(time.Minute)
	before := w.clock.now()
	if _, err := forge.Open(t.Context(), "acme/nowhere"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
	if waited := w.clock.now().Sub(before); waited != 0 {
		t.Errorf("waited %v", waited)
	}
}

// Just after a push, GitHub does not know the branch.
func TestCreate_headIsNotKnownYet(t *testing.T) {
	t.Parallel()
	b, made := newServerBench(t)
	repository, err := made.Forge.Open(t.Context(), "acme/deploy")
	if err != nil {
		t.Fatal(err)
	}
	b.repo.Git.Commit(self, "promoter/dev/default", "Update", map[string]string{"a.yaml": "image: web:2\n"})
	b.repo.DelayHead(1)
	draft := scm.Draft{Head: "promoter/dev/default", Base: "main", Title: "Promote web", Body: "text"}
	if _, err := repository.PullRequests().Create(t.Context(), draft); fault.KindOf(err) != fault.Temporary || !strings.Contains(err.Error(), "does not know the branch yet") {
		t.Errorf("got %v", err)
	}
	if _, err := repository.PullRequests().Create(t.Context(), draft); err != nil {
		t.Error(err)
	}
}

// GitHub's time of the last change of a comment may be later than that of its creation,
// although no user edited it.
func TestComments_changedSoonAfterCreation(t *testing.T) {
	t.Parallel()
	at := newClock()
	b, made := newServerBenchAt(t, at.now)
	repository, err := made.Forge.Open(t.Context(), "acme/deploy")
	if err != nil {
		t.Fatal(err)
	}
	b.repo.Git.Commit("ann", "topic", "Update", map[string]string{"a.yaml": "image: web:2\n"})
	number := b.repo.Pulls.Open("ann", "topic", "main", "Topic")
	b.DelayComments(time.Second)
	b.repo.Pulls.Comment("ann", number, "/promoter hold prod")
	id := b.repo.Pulls.Comment("bob", number, "/promoter hold dev")
	at.pass(time.Second)
	b.repo.Pulls.Reword(id, "/promoter resume prod")
	since := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 3 { // what was read once is not queried again
		comments, err := repository.Conversation().Comments(t.Context(), number)
		if err != nil || len(comments) != 2 || comments[0].Edited || !comments[1].Edited {
			t.Errorf("comments: %+v, %v", comments, err)
		}
		recent, err := repository.Conversation().Recent(t.Context(), since, 100)
		if err != nil || len(recent) != 2 {
			t.Errorf("recent: %+v, %v", recent, err)
		}
		for _, one := range recent {
			if edited := one.Author.Login == "bob"; one.Edited != edited {
				t.Errorf("recent: %+v", one)
			}
		}
	}
	if n := b.Traffic.Requests()["POST /graphql"]; n > 1 {
		t.Errorf("queried %d times", n)
	}
}

// An edit in the second in which a comment was created leaves its times equal. Comments with
// a command are queried, others are not, and without the GraphQL API the times count.
func TestComments_editedAtOnce(t *testing.T) {
	t.Parallel()
	at := newClock()
	b, made := newServerBenchAt(t, at.now)
	repository, err := made.Forge.Open(t.Context(), "acme/deploy")
	if err != nil {
		t.Fatal(err)
	}
	b.repo.Git.Commit("ann", "topic", "Update", map[string]string{"a.yaml": "image: web:2\n"})
	number := b.repo.Pulls.Open("ann", "topic", "main", "Topic")
	b.repo.Pulls.Comment("ann", number, "hello")
	edited := func() (all []bool) {
		t.Helper()
		comments, err := repository.Conversation().Comments(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range comments {
			all = append(all, one.Edited)
		}
		return all
	}
	if got := edited(); !slices.Equal(got, []bool{false}) || b.Traffic.Requests()["POST /graphql"] != 0 {
		t.Errorf("edited: %v; %v", got, b.Traffic.Requests())
	}
	b.repo.Pulls.Comment("ann", number, "/promoter hold prod")
	b.repo.Pulls.Reword(b.repo.Pulls.Comment("bob", number, "hello"), "/promoter hold dev")
	b.Fail("POST /graphql", 403, "no")
	if got := edited(); !slices.Equal(got, []bool{false, false, false}) {
		t.Errorf("without the API: %v", got)
	}
	if got := edited(); !slices.Equal(got, []bool{false, false, true}) {
		t.Errorf("edited: %v", got)
	}
}

// What the GraphQL API does not tell counts as edited, and is read again if the error is
// temporary.
func TestComments_editsCannotBeQueried(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]fault.Kind{403: "", 404: "", 502: fault.Temporary} {
		b, made := newServerBench(t)
		repository, err := made.Forge.Open(t.Context(), "acme/deploy")
		if err != nil {
			t.Fatal(err)
		}
		b.repo.Git.Commit("ann", "topic", "Update", map[string]string{"a.yaml": "image: web:2\n"})
		number := b.repo.Pulls.Open("ann", "topic", "main", "Topic")
		b.DelayComments(time.Second)
		b.repo.Pulls.Comment("ann", number, "/promoter hold prod")
		b.Fail("POST /graphql", status, "no")
		comments, err := repository.Conversation().Comments(t.Context(), number)
		if fault.KindOf(err) != want || want == "" && (len(comments) != 1 || !comments[0].Edited) {
			t.Errorf("%d: %+v, %v", status, comments, err)
		}
	}
}

// An App without the permission issues reads who closed a pull request from its events,
// and cannot react to comments.
func TestApp_withoutIssues(t *testing.T) {
	t.Parallel()
	w, installed, _ := newInstalled(t)
	repo := w.Repository("acme/gitops")
	repo.Git.Commit("ann", "promoter/dev/default", "Update", map[string]string{"a.yaml": "a: 2\n"})
	number := repo.Pulls.Open("ann", "promoter/dev/default", "main", "Promote")
	id := repo.Pulls.Comment("ann", number, "/promoter hold dev")
	repo.Pulls.Close("bob", number)
	installed.Permit(without(granted(), "issues"))
	forge := use(t, w.app, installed)
	repository, err := forge.Open(t.Context(), "acme/gitops")
	if err != nil {
		t.Fatal(err)
	}
	closed, err := repository.PullRequests().Closed(t.Context(), "promoter/dev/default", 1)
	if err != nil || len(closed) != 1 || closed[0].Closer.Login != "bob" {
		t.Errorf("got %+v, %v", closed, err)
	}
	err = repository.Conversation().React(t.Context(), scm.Comment{ID: id, Number: number}, scm.ReactionDone)
	if fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "lacks the permission issues=write") {
		t.Errorf("reaction: %v", err)
	}
}

// GitHub's ETags are bound to the token: a response to an earlier one is not requested
// conditionally with the next.
func TestApp_cacheEndsWithTheToken(t *testing.T) {
	t.Parallel()
	w, _, forge := newInstalled(t)
	for range 3 {
		if err := open(t, forge); err != nil {
			t.Fatal(err)
		}
		w.clock.pass(55 * time.Minute)
	}
	if n := w.Traffic.Requests()[tokenRoute]; n != 3 {
		t.Errorf("%d tokens were asked for", n)
	}
}

// A private repository of a free plan has no rulesets.
func TestRules_planWithoutRulesets(t *testing.T) {
	t.Parallel()
	b, made := newServerBench(t)
	b.repo.WithoutRulesets()
	repository, err := made.Forge.Open(t.Context(), "acme/deploy")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := repository.(scm.Ruled).Rules(t.Context(), "main")
	if err != nil || !strings.Contains(rules.Note, "its plan has no rulesets: Upgrade to GitHub Pro") || rules.Hidden != "" {
		t.Errorf("got %+v, %v", rules, err)
	}
	if why, err := repository.(scm.HeadRuled).Unpushable(t.Context(), "promoter/dev/web"); why != "" || err != nil {
		t.Errorf("got %q, %v", why, err)
	}
}

// A ruleset that requires signatures applies to branches that do not exist yet.
func TestUnpushable_signaturesOnAllBranches(t *testing.T) {
	t.Parallel()
	signed := githubtest.Demands{Signed: true}
	for name, test := range map[string]struct {
		branch  string
		ruleset githubtest.Ruleset
		want    bool
	}{
		"all branches":  {"", githubtest.Ruleset{Demands: signed}, true},
		"another one":   {"main", githubtest.Ruleset{Demands: signed}, false},
		"bypassed":      {"", githubtest.Ruleset{Demands: signed, Bypass: []string{self}}, false},
		"another rule":  {"", githubtest.Ruleset{Demands: githubtest.Demands{Linear: true}}, false},
		"the very name": {"promoter/dev/web", githubtest.Ruleset{Demands: signed}, true},
	} {
		b, made := newServerBench(t)
		b.repo.Rule(test.branch, test.ruleset)
		repository, err := made.Forge.Open(t.Context(), "acme/deploy")
		if err != nil {
			t.Fatal(err)
		}
		why, err := repository.(scm.HeadRuled).Unpushable(t.Context(), "promoter/dev/web")
		if err != nil || (why != "") != test.want || test.want && !strings.Contains(why, "requires signed commits on promoter/dev/web") {
			t.Errorf("%s: %q, %v", name, why, err)
		}
	}
}

// A ruleset names the app whose check it requires. A check of the same name by another app is
// told apart from it, and does not make the pull request mergeable.
func TestChecks_requiredFromOneApp(t *testing.T) {
	t.Parallel()
	b, made := newServerBench(t)
	repository, err := made.Forge.Open(t.Context(), "acme/deploy")
	if err != nil {
		t.Fatal(err)
	}
	head := b.repo.Git.Commit("ann", "topic", "Update", map[string]string{"a.yaml": "image: web:2\n"})
	number := b.repo.Pulls.Open("ann", "topic", "main", "Topic")
	b.repo.Rule("main", githubtest.Ruleset{Demands: githubtest.Demands{Checks: []string{"build"}, From: "ci[bot]"}})
	rules, err := repository.(scm.Ruled).Rules(t.Context(), "main")
	app := rules.Sources["build"]
	if err != nil || app == "" {
		t.Fatalf("rules: %+v, %v", rules, err)
	}
	sources := func() map[string]scm.CheckState {
		t.Helper()
		checks, err := repository.Signals().Checks(t.Context(), head)
		if err != nil || len(checks) != 1 {
			t.Fatal(checks, err)
		}
		return checks[0].Sources
	}
	b.repo.SetJob("other[bot]", head, "", "build", "success")
	if _, reported := sources()[app]; reported {
		t.Errorf("sources: %v", sources())
	}
	_, err = repository.PullRequests().Merge(t.Context(), number, scm.Merge{Head: head, Base: "main"})
	if err == nil || !strings.Contains(err.Error(), "is expected") {
		t.Errorf("the merge: %v", err)
	}
	b.repo.SetJob("ci[bot]", head, "", "build", "success")
	if got := sources(); got[app] != scm.CheckPassed || len(got) != 2 {
		t.Errorf("sources: %v", got)
	}
	if _, err := repository.PullRequests().Merge(t.Context(), number, scm.Merge{Head: head, Base: "main"}); err != nil {
		t.Error(err)
	}
}

// Two workflows have a job of the same name: the red one is not hidden, also if it is
// older. A run that was canceled because another one started is.
func TestChecks_sameJobInTwoWorkflows(t *testing.T) {
	t.Parallel()
	b, made := newServerBench(t)
	repository, err := made.Forge.Open(t.Context(), "acme/deploy")
	if err != nil {
		t.Fatal(err)
	}
	head := b.repo.Git.Commit("ann", "topic", "Update", map[string]string{"a.yaml": "image: web:2\n"})
	const actions = "github-actions[bot]"
	b.repo.SetJob(actions, head, "ci.yml", "build", "failure")
	b.repo.SetJob(actions, head, "docs.yml", "build", "success")
	b.repo.SetJob(actions, head, "ci.yml", "test", "failure")
	b.repo.SetJob(actions, head, "ci.yml", "test", "success") // run again
	b.repo.SetJob(actions, head, "push.yml", "lint", "cancelled")
	b.repo.SetJob(actions, head, "pull.yml", "lint", "success")
	checks, err := repository.Signals().Checks(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]scm.CheckState{}
	for _, one := range checks {
		got[one.Name] = one.State
	}
	want := map[string]scm.CheckState{"build": scm.CheckFailed, "test": scm.CheckPassed, "lint": scm.CheckPassed}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
