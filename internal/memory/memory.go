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
func Parallel(most int) int { return parallel(Limit(), most) }

func parallel(limit int64, most int) int {
	return max(1, min(most, int(min((limit-overhead)/Reconciliation, math.MaxInt32))))
}

// maxChildren limits the child processes that run at once.
const maxChildren = 4

// Division is how this process and its child processes share the memory of a container.
type Division struct {
	Children int   // how many run at once; 0: none fits
	Child    int64 // memory of each, in bytes
	Own      int64 // limit of this process, in bytes
}

// Limit returns the memory that the process may use, in bytes; math.MaxInt64: there is no limit.
func Limit() int64 { return debug.SetMemoryLimit(-1) }

// Divide divides a limit. A child needs up to most bytes, and at least least. One runs beside one reconciliation in a
// small container; in a larger one, children have up to half of the memory.
func Divide(limit, least, most int64) Division {
	if limit == math.MaxInt64 {
		return Division{Children: maxChildren, Child: most, Own: limit}
	}
	free := limit - overhead - Reconciliation
	child := min(most, free)
	if child < least {
		return Division{Own: limit}
	}
	children := max(1, min(maxChildren, free/2/child))
	return Division{Children: int(children), Child: child, Own: limit - children*child}
}

// Reserve keeps the memory of the children free. What is computed from the memory of the process later, such as
// Parallel, is without it.
func (d Division) Reserve() { debug.SetMemoryLimit(d.Own) }

// Share returns one part of the memory of the process, in bytes, but not more than most.
func Share(parts, most int64) int64 { return share(Limit(), parts, most) }

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
	n := room(Limit(), live, fresh)
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
