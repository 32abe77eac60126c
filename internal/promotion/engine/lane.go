package engine

import (
	"context"
	"log/slog"
	"time"

	"promoter/internal/config"
	"promoter/internal/promotion"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// ConfigFile is the config file of a repository, read from the default branch.
const ConfigFile = ".promoter.yaml"

// Lane is one repository with all that a pass needs. Passes of one lane never
// overlap in a process; several processes may race, and the repository decides.
type Lane struct {
	Remote     Remote
	Objects    Objects
	Files      Files
	Registries Registries
	Repository scm.Repository
	Compare    scm.Comparer // nil: no commits are shown
	Caps       promotion.Caps
	By         Signature // of our commits; When is set by each commit
	Now        func() time.Time
	Log        *slog.Logger
	DryRun     bool // observe and plan, write nothing
}

// Reconcile runs one pass. The report holds what failed in a part; the error is
// about the whole repository.
func (l *Lane) Reconcile(ctx context.Context) (Report, error) {
	panic("not written yet")
}

// Observe looks and decides, and changes nothing: what explain shows.
func (l *Lane) Observe(ctx context.Context) (Report, error) {
	panic("not written yet")
}

// Decide writes a person's decision to the state branch, whatever else is written
// there at the same time. It does nothing when the decision stands already.
func (l *Lane) Decide(ctx context.Context, subject string, change state.Change) error {
	panic("not written yet")
}

// Before returns the snapshot that stood in a place before the present one: what
// a rollback goes back to.
func (l *Lane) Before(ctx context.Context, place promotion.Place) (promotion.Snapshot, error) {
	panic("not written yet")
}

// Config returns the repository's config, as its default branch has it.
func (l *Lane) Config(ctx context.Context) (*config.Config, error) {
	panic("not written yet")
}
