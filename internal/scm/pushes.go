package scm

import (
	"context"
	"time"
)

// Pushes is implemented by repositories whose forge reports when a branch moved.
type Pushes interface {
	// Pushed lists how a branch moved, newest first: by pushes, and by merges where the forge records them as pushes. It ends
	// with a move before since, or earlier where that would cost too many requests. Some moves may be missing: a forge hides
	// those of users who want that, and records large pushes without their branches, see Push.
	Pushed(ctx context.Context, branch string, since time.Time) ([]Push, error)
}

// Push is one move of a branch.
type Push struct {
	// Before and After are where the branch was, in hex. Empty: it did not exist, or the forge does not report it.
	Before, After string
	At            time.Time // by the clock of the forge
}
