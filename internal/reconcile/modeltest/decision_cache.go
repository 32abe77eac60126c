package modeltest

import (
	"context"
	"time"

	"promoter/internal/reconcile/cache"
)

// pollInterval is how long incremental reconciliations of a story follow each other before a full one,
// as after a poll.
const pollInterval = 12 * time.Hour

// decisionCache keeps what a reconciliation leaves for the next one, as a process that runs does. Each
// incremental reconciliation is compared with a full one. It implements cache.Cache.
type decisionCache struct {
	s      *story
	kept   *cache.Entry
	images int // the changes in the registry of which the kept one knows
	loaded int
	polled time.Time
	used   bool // by a process
}

// Load implements cache.Cache.
func (c *decisionCache) Load(context.Context) (*cache.Entry, cache.Changed, error) {
	changed, total := c.s.Registry.Changed(c.images)
	c.loaded = total
	if c.s.Clock.Now().Sub(c.polled) > pollInterval {
		c.kept, c.polled = nil, c.s.Clock.Now()
	}
	return c.kept, cache.Changed{Image: changed}, nil
}

// Store implements cache.Cache.
func (c *decisionCache) Store(kept *cache.Entry) { c.kept, c.images = kept, c.loaded }
