package scmtest

import (
	"reflect"
	"slices"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
)

// condition is one documented behavior of the interfaces. Its name contains the ID of
// the acceptance case that it covers, if any.
type condition struct {
	name string
	// feature reports whether the forge has the feature under test; nil: all have it.
	feature func(scm.Features) bool
	// hooks returns the hooks of the bench that the test requires.
	hooks func(Bench) []any
	run   func(t *testing.T, x *fixture)
	// without asserts the documented result if the feature is missing.
	without func(t *testing.T, x *fixture)
}

// fixture is one bench with its repository opened.
type fixture struct {
	Bench
	repo scm.Repository
}

// Run tests a forge against all conditions. It requests a new bench per test; the
// tests run in parallel.
func Run(t *testing.T, fresh func(t *testing.T) Bench) {
	t.Helper()
	for _, c := range conditions() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.hold(t, fresh(t))
		})
	}
}

// Names lists the tests, for callers that keep a table of Known failures.
func Names() []string {
	var names []string
	for _, c := range conditions() {
		names = append(names, c.name)
	}
	return names
}

func conditions() []condition {
	return slices.Concat(
		opening(), opened(), edited(), closed(), turning(), pushing(), merging(), refusing(), ruling(), signaling(), reviewing(), talking(), recent(), reacting(), troubled(), comparing(), deploying(),
	)
}

func (c condition) hold(t *testing.T, b Bench) {
	t.Helper()
	if reason, known := b.Known[c.name]; known {
		t.Logf("left out, this counterpart is wrong here: %s", reason)
		return
	}
	x := &fixture{Bench: b, repo: open(t, b)}
	if c.feature != nil && !c.feature(x.repo.Features()) {
		c.miss(t, x)
		return
	}
	if c.hooks != nil {
		for _, hook := range c.hooks(b) {
			if reflect.ValueOf(hook).IsNil() {
				t.Log("left out: the bench cannot do this")
				return
			}
		}
	}
	c.run(t, x)
}

func (c condition) miss(t *testing.T, x *fixture) {
	t.Helper()
	if c.without == nil {
		t.Log("left out: the forge has no such feature")
		return
	}
	c.without(t, x)
}

func open(t *testing.T, b Bench) scm.Repository {
	t.Helper()
	repo, err := b.Forge.Open(t.Context(), b.Name)
	if err != nil {
		t.Fatalf("open %s: %v", b.Name, err)
	}
	return repo
}

// Features by which conditions are selected.
func pullRequests(f scm.Features) bool { return f.PullRequests }
func guarded(f scm.Features) bool      { return f.PullRequests && f.GuardedMerge }
func approvals(f scm.Features) bool    { return f.Approvals }
func statuses(f scm.Features) bool     { return f.Statuses }
func comments(f scm.Features) bool     { return f.Comments }
func teams(f scm.Features) bool        { return f.Teams }
func deployments(f scm.Features) bool  { return f.Deployments }

// branch is the head that the suite uses, with three path segments like promoter's
// branches.
const branch = "promoter/prod/web"

// draft returns the default pull request of the suite.
func draft() scm.Draft {
	return scm.Draft{Head: branch, Base: Main, Title: "Promote web", Body: "from 1 to 2"}
}

// push pushes a commit of our own to the branch.
func (x *fixture) push(t *testing.T, content string) string {
	t.Helper()
	return x.Git.Commit(t, Commit{Branch: branch, Path: "a.yaml", Content: content, Message: "Promote web\n\nPromoter-Environment: prod"})
}

// propose pushes and opens a pull request.
func (x *fixture) propose(t *testing.T) scm.PullRequest {
	t.Helper()
	x.push(t, "image: web:2\n")
	made, err := x.repo.PullRequests().Create(t.Context(), draft())
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return made
}

// one returns the only open pull request.
func (x *fixture) one(t *testing.T) scm.PullRequest {
	t.Helper()
	all, err := x.repo.PullRequests().Open(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("open pull requests: %d, %v, want one", len(all), err)
	}
	return all[0]
}

// none checks that no pull request is open.
func (x *fixture) none(t *testing.T) {
	t.Helper()
	if all, err := x.repo.PullRequests().Open(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("open pull requests: %v, %v, want none", all, err)
	}
}

// ended returns the closed pull requests of the branch.
func (x *fixture) ended(t *testing.T, limit int) []scm.PullRequest {
	t.Helper()
	all, err := x.repo.PullRequests().Closed(t.Context(), branch, limit)
	if err != nil {
		t.Fatalf("closed pull requests: %v", err)
	}
	return all
}

// person returns a user on the forge of the repository.
func (x *fixture) person(login string) identity.User {
	return identity.User{Host: x.repo.Info().Self.Host, Login: login}
}

// main returns the commit of the default branch.
func (x *fixture) main(t *testing.T) string {
	t.Helper()
	return x.Git.Log(t, Main)[0]
}

func wantKind(t *testing.T, what string, err error, kinds ...fault.Kind) {
	t.Helper()
	got := fault.KindOf(err)
	for _, kind := range kinds {
		if got == kind {
			return
		}
	}
	t.Errorf("%s: %v is %q, want one of %q", what, err, got, kinds)
}

func fatal(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
