package github_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
)

// TestRequests_perCall lists the requests of every call of the interfaces, to detect
// a change that adds requests. "Not modified" responses do not count against the rate
// limit, but are counted here.
func TestRequests_perCall(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"open a repository": {"GET /repos/{owner}/{repo}"}, // and once per forge the account
		"list what is open": {"GET /repos/{owner}/{repo}/pulls"},
		"create":            {"POST /repos/{owner}/{repo}/pulls"},
		"create with everything": {
			"POST /repos/{owner}/{repo}/issues/{number}/assignees", "POST /repos/{owner}/{repo}/issues/{number}/labels",
			"POST /repos/{owner}/{repo}/pulls", "POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers",
		},
		"edit": {"PATCH /repos/{owner}/{repo}/pulls/{number}"},
		"what became of one that was closed": {
			"GET /repos/{owner}/{repo}/git/commits/{sha}", "GET /repos/{owner}/{repo}/issues/{number}", "GET /repos/{owner}/{repo}/pulls",
		},
		"merge":                       {"PUT /repos/{owner}/{repo}/pulls/{number}/merge"},
		"checks":                      {"GET /repos/{owner}/{repo}/commits/{ref}/check-runs", "GET /repos/{owner}/{repo}/commits/{ref}/statuses"},
		"a first status":              {"GET /repos/{owner}/{repo}/commits/{ref}/statuses", "POST /repos/{owner}/{repo}/statuses/{sha}"},
		"a status after the checks":   {"POST /repos/{owner}/{repo}/statuses/{sha}"},
		"two approvals of one person": {"GET /repos/{owner}/{repo}/collaborators/{user}/permission", "GET /repos/{owner}/{repo}/pulls/{number}/reviews"},
		"a comment":                   {"GET /repos/{owner}/{repo}/issues/{number}/comments", "POST /repos/{owner}/{repo}/issues/{number}/comments"},
		"a comment that stands there": {"GET /repos/{owner}/{repo}/issues/{number}/comments"},
		"the members of a team":       {"GET /orgs/{org}/teams/{team}/memberships/{user}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, costOf(t, name)); diff != "" {
				t.Errorf("requests:\n%s", diff)
			}
		})
	}
}

// costOf returns the requests of one call, sorted, with the number of those that
// were sent more than once.
func costOf(t *testing.T, name string) []string {
	t.Helper()
	b, made := newServerBench(t)
	repo, err := made.Forge.Open(t.Context(), made.Name)
	if err != nil {
		t.Fatal(err)
	}
	head := made.Git.Commit(t, scmtest.Commit{Branch: "promoter/prod/web", Path: "a.yaml", Content: "image: web:2\n", Message: "Promote"})
	number := 0
	if !strings.HasPrefix(name, "create") {
		number = made.People.Open(t, self, "promoter/prod/web", "main", "Promote")
	}
	call := calls(made.Forge, repo, number, head)[name]
	prepare(t, b, repo, name, number, head)
	b.Traffic.ResetRequests()
	if err := call(t.Context()); err != nil {
		t.Fatal(err)
	}
	var cost []string
	counts := b.Traffic.Requests()
	for _, route := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[route]; n > 1 {
			route = fmt.Sprintf("%s ×%d", route, n)
		}
		cost = append(cost, route)
	}
	return cost
}

// prepare sets up the state for a call.
func prepare(t *testing.T, b *bench, repo scm.Repository, name string, number int, head string) {
	t.Helper()
	var err error
	switch name {
	case "what became of one that was closed":
		b.repo.Pulls.Close(scmtest.Ann, number)
	case "a status after the checks":
		_, err = repo.Signals().Checks(t.Context(), head)
	case "two approvals of one person":
		b.repo.Pulls.Approve(scmtest.Ann, number)
		b.repo.Pulls.Approve(scmtest.Ann, number)
	case "a comment that stands there":
		err = repo.Conversation().Say(t.Context(), number, "<!-- m -->", "<!-- m --> text")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// calls returns the calls by their names in the table.
func calls(forge scm.Forge, repo scm.Repository, number int, head string) map[string]func(context.Context) error {
	draft := scm.Draft{Head: "promoter/prod/web", Base: "main", Title: "Promote web", Body: "text"}
	whole := draft
	whole.Labels, whole.Assignees = []string{"prod", "eu"}, []string{scmtest.Ann, scmtest.Bob}
	whole.Reviewers = []string{scmtest.Ann, "team:" + scmtest.Team}
	title, status := "t", scm.Status{Context: "promoter", State: scm.CheckPending}
	pulls, signals := repo.PullRequests(), repo.Signals()
	create := func(d scm.Draft) func(context.Context) error {
		return func(ctx context.Context) error { _, err := pulls.Create(ctx, d); return err }
	}
	say := func(ctx context.Context) error {
		return repo.Conversation().Say(ctx, number, "<!-- m -->", "<!-- m --> text")
	}
	set := func(ctx context.Context) error { return signals.SetStatus(ctx, head, status) }
	return map[string]func(context.Context) error{
		"open a repository": func(ctx context.Context) error { _, err := forge.Open(ctx, "acme/deploy"); return err },
		"list what is open": func(ctx context.Context) error { _, err := pulls.Open(ctx); return err },
		"create":            create(draft), "create with everything": create(whole),
		"edit":                               func(ctx context.Context) error { return pulls.Edit(ctx, number, scm.Edit{Title: &title, Body: &title}) },
		"what became of one that was closed": func(ctx context.Context) error { _, err := pulls.Closed(ctx, draft.Head, 5); return err },
		"merge":                              func(ctx context.Context) error { _, err := pulls.Merge(ctx, number, scm.Merge{Head: head}); return err },
		"checks":                             func(ctx context.Context) error { _, err := signals.Checks(ctx, head); return err },
		"a first status":                     set, "a status after the checks": set,
		"two approvals of one person": func(ctx context.Context) error { _, err := signals.Reviews(ctx, number); return err },
		"a comment":                   say, "a comment that stands there": say,
		"the members of a team": func(ctx context.Context) error {
			_, err := signals.Member(ctx, scmtest.Team, repo.Info().Self)
			return err
		},
	}
}
