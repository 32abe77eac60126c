package gitlab_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm"
	"promoter/internal/scm/gitlab/gitlabtest"
	"promoter/internal/scm/scmtest"
)

// TestRequests_perCall lists the requests of every call of the interfaces, to detect
// a change that adds requests.
func TestRequests_perCall(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"open":                    {"GET /projects/{id}"}, // and once per forge the account
		"list what is open":       {"GET /projects/{id}/merge_requests"},
		"create":                  {"POST /projects/{id}/merge_requests"},
		"create with everything":  {"GET /users ×2", "POST /projects/{id}/merge_requests"},
		"edit":                    {"PUT /projects/{id}/merge_requests/{iid}"},
		"what became of a closed": {"GET /projects/{id}/merge_requests", "GET /projects/{id}/repository/commits/{sha}"},
		"merge":                   {"GET /projects/{id}", "PUT /projects/{id}/merge_requests/{iid}/merge"},
		"checks":                  {"GET /projects/{id}/repository/commits/{sha}/statuses"},
		"a first status":          {"GET /projects/{id}/repository/commits/{sha}/statuses", "POST /projects/{id}/statuses/{sha}"},
		"a status after a look":   {"POST /projects/{id}/statuses/{sha}"},
		"no reviews":              {"GET /projects/{id}/merge_requests/{iid}/approvals", "GET /projects/{id}/merge_requests/{iid}/notes"},
		"an approval": {
			"GET /projects/{id}/members/all/{user}", "GET /projects/{id}/merge_requests/{iid}/approvals",
			"GET /projects/{id}/merge_requests/{iid}/notes", "GET /projects/{id}/merge_requests/{iid}/versions", "GET /users/{user}",
		},
		"a note":                 {"GET /projects/{id}/merge_requests/{iid}/notes", "POST /projects/{id}/merge_requests/{iid}/notes"},
		"a note that stands":     {"GET /projects/{id}/merge_requests/{iid}/notes"},
		"the members of a group": {"GET /groups/{id}/members/all/{user}", "GET /users"},
		"the rules of a branch": {
			"GET /projects/{id}", "GET /projects/{id}/approval_rules", "GET /projects/{id}/approvals",
			"GET /projects/{id}/push_rule", "GET /projects/{id}/repository/branches/{branch}",
		},
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
	b, made := newBench(t, gitlabtest.Options{})
	repo := b.open(t)
	head, number := b.push("image: web:2\n"), 0
	if !strings.HasPrefix(name, "create") {
		number = made.People.Open(t, gitlabtest.Self, branch, "main", "Promote")
	}
	call := b.calls(repo, number, head)[name]
	b.prepare(t, repo, name, number, head)
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
func (b *bench) prepare(t *testing.T, repo scm.Repository, name string, number int, head string) {
	t.Helper()
	var err error
	switch name {
	case "what became of a closed":
		b.project.Pulls.Close(scmtest.Ann, number)
	case "a status after a look":
		_, err = repo.Signals().Checks(t.Context(), head)
	case "an approval":
		b.project.Approve(scmtest.Ann, number)
	case "a note that stands":
		err = repo.Conversation().Say(t.Context(), number, "<!-- m -->", "<!-- m --> text")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// calls returns the calls by their names in the table.
func (b *bench) calls(repo scm.Repository, number int, head string) map[string]func(context.Context) error {
	draft := scm.Draft{Head: branch, Base: "main", Title: "Promote web", Body: "text"}
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
	reviews := func(ctx context.Context) error { _, err := signals.Reviews(ctx, number); return err }
	return map[string]func(context.Context) error{
		"open":              func(ctx context.Context) error { _, err := b.forge.Open(ctx, b.project.Settings.Name()); return err },
		"list what is open": func(ctx context.Context) error { _, err := pulls.Open(ctx); return err },
		"create":            create(draft), "create with everything": create(whole),
		"edit": func(ctx context.Context) error {
			if _, err := pulls.Open(ctx); err != nil { // which shows that it is not a draft
				return err
			}
			b.Traffic.ResetRequests()
			return pulls.Edit(ctx, number, scm.Edit{Title: &title, Body: &title, AddLabels: []string{"a"}})
		},
		"what became of a closed": func(ctx context.Context) error { _, err := pulls.Closed(ctx, branch, 5); return err },
		"merge":                   func(ctx context.Context) error { _, err := pulls.Merge(ctx, number, merging(head)); return err },
		"checks":                  func(ctx context.Context) error { _, err := signals.Checks(ctx, head); return err },
		"a first status":          set, "a status after a look": set,
		"no reviews": reviews, "an approval": reviews, "a note": say, "a note that stands": say,
		"the members of a group": func(ctx context.Context) error {
			_, err := signals.Member(ctx, scmtest.Team, repo.Info().Self)
			return err
		},
		"the rules of a branch": func(ctx context.Context) error {
			_, err := repo.(scm.Ruled).Rules(ctx, "main")
			return err
		},
	}
}
