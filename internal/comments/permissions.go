// Package comments reads the commands that users write in comments on pull requests of
// ours, verifies live what they may do, applies them to the state, and replies. What is
// processed and which replies are pending is in the state, so an interruption loses nothing
// and repeats no command. A reconciliation passes what it observed and gets the changes to
// record. The tests are in the package reconcile: they drive whole reconciliations.
package comments

import (
	"context"

	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/verb"
)

// Permissions decides which users may give commands in comments.
type Permissions interface {
	// Allowed asks, live, whether a user may give a command about all of the targets;
	// without targets, whether the user may give it about anything in the repository.
	// An error is neither yes nor no.
	Allowed(ctx context.Context, user identity.User, verb verb.Verb, targets ...promotion.Deployment) (Permission, error)
	// Named returns the users and teams that rules allow to give a command about all of
	// the targets, sorted; empty if only users whom several rules name may. False: no rule
	// covers it, so that all users with write access may.
	Named(verb verb.Verb, targets ...promotion.Deployment) ([]string, bool)
}

// Bypasses decides which users may bypass conditions and gates.
type Bypasses interface {
	// MayBypass asks, live, whether a user may bypass a condition or gate of a target, one of
	// verb.Bypassable. An error is neither yes nor no.
	MayBypass(ctx context.Context, user identity.User, condition string, target promotion.Deployment) (Permission, error)
}

// CommentEvents knows what authenticated webhooks reported about new comments.
type CommentEvents interface {
	// Digests returns the digest of the command (command.Digest) of those of the comments
	// that were reported, as it was when they were created.
	Digests(ctx context.Context, comments []int64) (map[int64]string, error)
}

// Permission is the answer of Permissions.
type Permission struct {
	Allowed bool
	Reason  string // why not, for that user
}
