package rest

import (
	"context"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// NoPulls implements pull requests for a repository in which they are disabled: lists
// are empty, and no request is sent.
type NoPulls struct {
	Repository string // name, for errors
	Setting    string // setting that enables them, as text
}

// Open returns an empty list.
func (NoPulls) Open(context.Context) ([]scm.PullRequest, error) { return nil, nil }

// Closed returns an empty list.
func (NoPulls) Closed(context.Context, string, int) ([]scm.PullRequest, error) { return nil, nil }

// Create returns an Invalid fault: the config requires a disabled feature.
func (n NoPulls) Create(_ context.Context, draft scm.Draft) (scm.PullRequest, error) {
	return scm.PullRequest{}, fault.New(fault.Invalid, "pull request from %s of %s: pull requests are disabled: %s", OneLine(draft.Head), n.Repository, n.Setting)
}

// Edit returns a NotFound fault.
func (n NoPulls) Edit(_ context.Context, number int, _ scm.Edit) error { return n.missing(number) }

// Merge returns a NotFound fault.
func (n NoPulls) Merge(_ context.Context, number int, _ scm.Merge) (scm.Merged, error) {
	return scm.Merged{}, n.missing(number)
}

func (n NoPulls) missing(number int) error {
	return fault.New(fault.NotFound, "pull request %d of %s: pull requests are disabled: %s", number, n.Repository, n.Setting)
}

// Without returns the features of a repository in which pull requests are disabled.
func (NoPulls) Without(has scm.Features) scm.Features {
	has.PullRequests, has.Closers, has.Approvals, has.Comments, has.GuardedMerge = false, false, false, false, false
	return has
}
