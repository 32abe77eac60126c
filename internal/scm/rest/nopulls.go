package rest

import (
	"context"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

// NoPulls implements pull requests for a repository that has none: lists are empty, and
// no request is sent.
type NoPulls struct {
	Repository string // name, for errors
	Reason     string // why there are none, as text
}

// Open returns an empty list.
func (NoPulls) Open(context.Context) ([]scm.PullRequest, error) { return nil, nil }

// Closed returns an empty list.
func (NoPulls) Closed(context.Context, string, int) ([]scm.PullRequest, error) { return nil, nil }

// Create returns an Invalid fault: the config requires a feature that the repository lacks.
func (n NoPulls) Create(_ context.Context, draft scm.Draft) (scm.PullRequest, error) {
	return scm.PullRequest{}, fault.New(fault.Invalid, "pull request from %s of %s: %s", OneLine(draft.Head), n.Repository, n.Reason)
}

// Edit returns a NotFound fault.
func (n NoPulls) Edit(_ context.Context, number int, _ scm.Edit) error { return n.missing(number) }

// Merge returns a NotFound fault.
func (n NoPulls) Merge(_ context.Context, number int, _ scm.Merge) (scm.Merged, error) {
	return scm.Merged{}, n.missing(number)
}

func (n NoPulls) missing(number int) error {
	return fault.New(fault.NotFound, "pull request %d of %s: %s", number, n.Repository, n.Reason)
}

// Without returns the features of a repository in which pull requests are disabled.
func (NoPulls) Without(has scm.Features) scm.Features {
	has.PullRequests = false
	has.Closers = false
	has.Approvals = false
	has.Comments = false
	has.GuardedMerge = false
	return has
}

// NoConversation implements comments for a repository that has no pull requests.
type NoConversation struct{}

// Comments returns an empty list.
func (NoConversation) Comments(context.Context, int) ([]scm.Comment, error) { return nil, nil }

// Recent returns an empty list.
func (NoConversation) Recent(context.Context, time.Time, int) ([]scm.Comment, error) { return nil, nil }

// Say does nothing.
func (NoConversation) Say(context.Context, int, string, string) error { return nil }

// React does nothing.
func (NoConversation) React(context.Context, scm.Comment, scm.Reaction) error { return nil }

// Reacted returns false.
func (NoConversation) Reacted(context.Context, scm.Comment) (bool, error) { return false, nil }
