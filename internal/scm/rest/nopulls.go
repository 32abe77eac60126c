package rest

import (
	"context"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// NoPulls are the pull requests of a repository in which they are switched off:
// there are none, and nothing is asked about them.
type NoPulls struct {
	Repository string // by name, for errors
	Setting    string // that switches them on, in words
}

// Open lists none.
func (NoPulls) Open(context.Context) ([]scm.PullRequest, error) { return nil, nil }

// Closed lists none.
func (NoPulls) Closed(context.Context, string, int) ([]scm.PullRequest, error) { return nil, nil }

// Create is Invalid: the config asks for what the repository has not.
func (n NoPulls) Create(_ context.Context, draft scm.Draft) (scm.PullRequest, error) {
	return scm.PullRequest{}, fault.New(fault.Invalid, "pull request from %s of %s: they are switched off: %s", OneLine(draft.Head), n.Repository, n.Setting)
}

// Edit finds none.
func (n NoPulls) Edit(_ context.Context, number int, _ scm.Edit) error { return n.missing(number) }

// Merge finds none.
func (n NoPulls) Merge(_ context.Context, number int, _ scm.Merge) (scm.Merged, error) {
	return scm.Merged{}, n.missing(number)
}

func (n NoPulls) missing(number int) error {
	return fault.New(fault.NotFound, "pull request %d of %s: they are switched off: %s", number, n.Repository, n.Setting)
}

// Without are the features of a repository in which pull requests are switched off.
func (NoPulls) Without(has scm.Features) scm.Features {
	has.PullRequests, has.Closers, has.Approvals, has.Comments, has.GuardedMerge = false, false, false, false, false
	return has
}
