package scmtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/scm"
)

// Counter counts the requests to a fake by their routes.
type Counter interface {
	Requests() map[string]int
	ResetRequests()
}

// Costs compares the requests of calls of the interfaces with a table, to detect a
// change that adds requests. The lists are sorted. "Not modified" responses do not
// count against a rate limit, but are counted here.
func Costs(t *testing.T, fresh func(t *testing.T) (Bench, Counter), want map[string][]string) {
	t.Helper()
	for name, routes := range want {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, count := fresh(t)
			x := &fixture{Bench: b, repo: open(t, b)}
			if diff := cmp.Diff(routes, x.costOf(t, count, name)); diff != "" {
				t.Errorf("requests:\n%s", diff)
			}
		})
	}
}

// costOf returns the requests of one call, sorted, with the number of those that
// were sent more than once.
func (x *fixture) costOf(t *testing.T, count Counter, name string) []string {
	t.Helper()
	head, number := x.push(t, "image: web:2\n"), 0
	if !strings.HasPrefix(name, "create") {
		number = x.People.Open(t, x.repo.Info().Self.Login, branch, Main, "Promote web")
	}
	call, known := x.calls(t, number, head)[name]
	if !known {
		t.Fatalf("the suite has no such call")
	}
	x.prepare(t, name, number, head)
	count.ResetRequests()
	call()
	var cost []string
	counts := count.Requests()
	for _, route := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[route]; n > 1 {
			route = fmt.Sprintf("%s ×%d", route, n)
		}
		cost = append(cost, route)
	}
	return cost
}

// prepare sets up the state for a call.
func (x *fixture) prepare(t *testing.T, name string, number int, head string) {
	t.Helper()
	switch name {
	case "edit", "edit with a label": // of one that was listed
		x.one(t)
	case "what became of a closed one":
		x.People.Close(t, Ann, number)
	case "a status after the checks":
		_, err := x.repo.Signals().Checks(t.Context(), head)
		fatal(t, "checks", err)
	case "an approval":
		x.People.Review(t, Ann, number, scm.Approved)
	case "the same comment":
		fatal(t, "say", x.repo.Conversation().Say(t.Context(), number, marker, marker))
	}
}

// calls returns the calls by their names in the table.
func (x *fixture) calls(t *testing.T, number int, head string) map[string]func() {
	t.Helper()
	whole, title, status := draft(), "t", scm.Status{Context: "promoter", State: scm.CheckPending}
	whole.Labels, whole.Assignees, whole.Reviewers = []string{"prod", "eu"}, []string{Ann, Bob}, []string{Ann, "team:" + Team}
	ctx, pulls, signals, done := t.Context(), x.repo.PullRequests(), x.repo.Signals(), func(err error) { t.Helper(); fatal(t, "call", err) }
	create := func(d scm.Draft) { _, err := pulls.Create(ctx, d); done(err) }
	edit := func(labels ...string) {
		done(pulls.Edit(ctx, number, scm.Edit{Title: &title, Body: &title, AddLabels: labels}))
	}
	say := func() { done(x.repo.Conversation().Say(ctx, number, marker, marker)) }
	set := func() { done(signals.SetStatus(ctx, head, status)) }
	reviews := func() { _, err := signals.Reviews(ctx, number); done(err) }
	return map[string]func(){
		"open the repository":         func() { open(t, x.Bench) },
		"list what is open":           func() { _, err := pulls.Open(ctx); done(err) },
		"create":                      func() { create(draft()) },
		"create with everything":      func() { create(whole) },
		"edit":                        func() { edit() },
		"edit with a label":           func() { edit("a") },
		"what became of a closed one": func() { x.ended(t, 5) },
		"merge":                       func() { _, err := pulls.Merge(ctx, number, landing(head)); done(err) },
		"checks":                      func() { _, err := signals.Checks(ctx, head); done(err) },
		"a first status":              set,
		"a status after the checks":   set,
		"no reviews":                  reviews,
		"an approval":                 reviews,
		"a comment":                   say,
		"the same comment":            say,
		"the members of a team":       func() { x.wantMember(t, Team, Ann, true) },
		"the rules of a branch":       func() { x.rules(t) },
		"the pushes of a branch":      func() { x.pushed(t, Main, 1) },
	}
}
