package app

import (
	"sync/atomic"

	"promoter/internal/event"
	"promoter/internal/queue"
)

// sweepAfter is how much webhooks bring until what is kept is looked through, in bytes:
// within the hour in which that comes by itself they could fill a disk.
const sweepAfter = 64 << 20

// rowOfHint is about what a hint takes besides the body that it is read from, in bytes.
const rowOfHint = 256

// inflow is what webhooks brought since that was last looked at.
type inflow struct{ bytes atomic.Int64 }

// add is the work that a delivery means for what is kept: mostly none.
func (f *inflow) add(body []byte, hints []event.Event) []queue.Trigger {
	if f.bytes.Add(int64(len(body)+len(hints)*rowOfHint)) < sweepAfter {
		return nil
	}
	f.bytes.Store(0)
	return []queue.Trigger{{Kind: kindSweep, Key: everything}}
}
