package engine

import (
	"context"
	"time"

	"promoter/internal/config"
	"promoter/internal/config/trust"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/repo"
	"promoter/internal/scm"
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
	// Describe returns what the image of a version says about itself. The first of the
	// platforms selects the image of an index. A version that does not exist is a NotFound
	// fault.
	Describe(ctx context.Context, fact promotion.Fact, platforms []string) (image.Description, error)
}

// Sources reads source repositories, as far as the server lets the repository see them.
type Sources interface {
	// Change returns what a source says about a change. An error may go away soon; all else
	// that keeps commits unknown is in the result.
	Change(ctx context.Context, query scm.ChangeQuery) (scm.Change, error)
}

// Evidence has what sources reported about the health of one repository's targets. It is an
// aid, except for what only receivers know.
type Evidence interface {
	// Reports returns the latest report of each object that arrived at the receivers, by
	// their names in the server file, that this repository may use. A receiver that does not
	// exist, or that it may not use, has none.
	Reports(ctx context.Context, receivers []string) ([]health.Report, error)
	// Load returns the states of landed commits that Store kept, of those that it has.
	Load(ctx context.Context, keys []health.Key) (map[health.Key]health.State, error)
	// Store keeps the states of landed commits. Where the forge has commit statuses, they
	// have them too; elsewhere this is the only copy.
	Store(ctx context.Context, states map[health.Key]health.State) error
}

// VersionRequest asks for the selected version of a component.
type VersionRequest struct {
	Component  config.Component
	Name       string // its own name, where a pattern matched it
	Repository image.Repository
	Policy     *image.Policy
	Verify     []trust.Requirement // what signatures must prove
	// FirstSeen returns when the repository first recorded a digest as available.
	FirstSeen func(digest string) (time.Time, bool)
	// InUse reports whether a version is in all files that it could be promoted to. Of such a
	// version, the digest of the tag may have been requested some time ago.
	InUse func(image.Version) bool
	// Newer asks for newer versions that the policy does not select.
	Newer bool
}

// Renderer renders manifests from the files of commits.
type Renderer interface {
	// Rendered returns what changes from one commit to the next in the kustomizations and
	// charts that contain the changed files. Nil: there are none.
	Rendered(ctx context.Context, before, after string, changed []string) ([]pullrequest.Manifests, error)
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
