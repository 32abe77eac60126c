package modeltest

import (
	"context"
	"time"

	"promoter/internal/reconcile/cache"
)

// pollInterval is how long incremental reconciliations of a story follow each other before a full one,
// as after a poll.
const pollInterval = 12 * time.Hour

// keeper keeps what a reconciliation leaves for the next one, as a process that runs does. Each
// incremental reconciliation is compared with a full one. It implements cache.Cache.
type keeper struct {
	s      *story
	kept   *cache.Entry
	images int // the changes in the registry of which the kept one knows
	loaded int
	polled time.Time
	used   bool // by a process
}

// Load implements cache.Cache.
func (k *keeper) Load(context.Context) (*cache.Entry, cache.Changed, error) {
	changed, total := k.s.Registry.Changed(k.images)
	k.loaded = total
	if k.s.Clock.Now().Sub(k.polled) > pollInterval {
		k.kept, k.polled = nil, k.s.Clock.Now()
	}
	return k.kept, cache.Changed{Image: changed}, nil
}

// Store implements cache.Cache.
func (k *keeper) Store(kept *cache.Entry) { k.kept, k.images = kept, k.loaded }
