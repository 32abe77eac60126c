package scm

import (
	"context"
	"time"

	"promoter/internal/identity"
)

// Timelines is implemented by repositories whose forge reports each close and each reopening of a pull
// request. Without it, only the last close is known.
type Timelines interface {
	// Timeline lists when a pull request was closed and reopened, and by whom, in the order in which the
	// forge recorded it. A merge is not among them. An account of which the forge shows that it is a bot
	// is one, also if its name does not show it. Invalid: the forge has it in a form that cannot be read.
	Timeline(ctx context.Context, number int) ([]TimelineEvent, error)
}

// TimelineEvent is one close or reopening of a pull request.
type TimelineEvent struct {
	State PullRequestState // StateClosed or StateOpen
	By    identity.User    // zero: the account does not exist anymore
	At    time.Time
}

// Bots is implemented by repositories whose forge shows only on request which accounts are bots.
type Bots interface {
	// IsBot reports whether an account is a bot. One that does not exist is none.
	IsBot(ctx context.Context, person identity.User) (bool, error)
}
