package engine

import (
	"context"
	"time"

	"promoter/internal/config"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/verb"
)

// Committed reports whether a commit names our identity as its committer, which proves
// nothing.
func (r *Reconciler) Committed(commit repo.Commit) bool { return r.By.Committed(commit) }

// Registries queries registries with the credentials of the repository.
type Registries interface {
	// Select returns the version of a component that its policy selects, or why there
	// is none.
	Select(ctx context.Context, request VersionRequest) promotion.Available
	// Resolve answers a lookup of the planner. A version that does not exist is the
	// zero version and no error.
	Resolve(ctx context.Context, lookup promotion.Lookup) (image.Version, error)
}

// VersionRequest asks for the selected version of a component.
type VersionRequest struct {
	Component  config.Component
	Name       string // its own name, where a pattern matched it
	Repository image.Repository
	Policy     *image.Policy
	// FirstSeen returns when the repository first recorded a digest as available.
	FirstSeen func(digest string) (time.Time, bool)
}

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

// Tracer is called when a part of a reconciliation begins. It returns the context for
// the part, and a function that is called with the effects of the part when it ends.
// The parts are "attempt", in it "observe" and "plan", and the step of each
// proposal that changes something.
type Tracer func(ctx context.Context, part string) (context.Context, func(effects []Effect, err error))

func (r *Reconciler) trace(ctx context.Context, part string) (context.Context, func([]Effect, error)) {
	if r.Trace == nil {
		return ctx, func([]Effect, error) {}
	}
	return r.Trace(ctx, part)
}
