package modeltest

import (
	"context"
	"time"

	"promoter/internal/engine"
)

// pollInterval is how long incremental reconciliations of a story follow each other before a full one,
// as after a poll.
const pollInterval = 12 * time.Hour

// keeper keeps what a reconciliation leaves for the next one, as a process that runs does. Each
// incremental reconciliation is compared with a full one. It implements engine.Keeper.
type keeper struct {
	s      *story
	kept   *engine.Kept
	images int // the changes in the registry of which the kept one knows
	loaded int
	polled time.Time
	used   bool // by a process
}

// Load implements engine.Keeper.
func (k *keeper) Load(context.Context) (*engine.Kept, engine.Changed, error) {
	changed, total := k.s.Registry.Changed(k.images)
	k.loaded = total
	if k.s.Clock.Now().Sub(k.polled) > pollInterval {
		k.kept, k.polled = nil, k.s.Clock.Now()
	}
	return k.kept, engine.Changed{Image: changed}, nil
}

// Keep implements engine.Keeper.
func (k *keeper) Keep(kept *engine.Kept) { k.kept, k.images = kept, k.loaded }
