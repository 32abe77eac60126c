// Package memory limits how much work runs at once by the memory of the process, so that
// reconciliations wait for room instead of sharing the crash.
package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Reconciliation is what one reconciliation may need, in bytes (docs/performance.md).
const Reconciliation = 160 << 20

// overhead is what a process needs beside its heap, and for its webhooks.
const overhead = 64 << 20

// Parallel returns how many of up to a number of reconciliations fit into the memory of
// the process, at least one.
func Parallel(most int) int { return parallel(debug.SetMemoryLimit(-1), most) }

func parallel(limit int64, most int) int {
	return max(1, min(most, int(min((limit-overhead)/Reconciliation, math.MaxInt32))))
}

// Share returns one part of the memory of the process, in bytes, but not more than most.
func Share(parts, most int64) int64 { return share(debug.SetMemoryLimit(-1), parts, most) }

func share(limit, parts, most int64) int64 { return min(limit/parts, most) }

// collectEvery limits the garbage collections that Room starts.
const collectEvery = 5 * time.Second

// Gauge measures the memory of the process.
type Gauge struct {
	collecting atomic.Bool // since collectEvery at most
}

// Room returns how many more reconciliations fit now beside those that have begun a moment
// ago and do not have all their memory yet. The first one needs no room.
func (g *Gauge) Room(fresh int) int {
	live, _ := heap()
	n := room(debug.SetMemoryLimit(-1), live, fresh)
	if n == 0 && g.collecting.CompareAndSwap(false, true) {
		// What is known about the heap is as old as the last collection.
		go func() {
			defer g.collecting.Store(false)
			runtime.GC()
			<-time.After(collectEvery)
		}()
	}
	return n
}

func room(limit, used int64, fresh int) int {
	free := limit - overhead - used - int64(fresh)*Reconciliation
	return max(0, int(min(free/Reconciliation, math.MaxInt32)))
}
