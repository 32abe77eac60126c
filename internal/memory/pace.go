package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Pace starts a garbage collection when the heap has grown by a percentage since the last one, as
// GOGC does, but not before it has a size in bytes. To collect a small heap often costs a good part of
// the processor time, and saves memory that a larger one needs anyway. A memory limit still counts.
func Pace(percent int, size int64) {
	pace{percent: percent, size: size, set: debug.SetGCPercent}.begin()
}

// pace is the setting of Pace.
type pace struct {
	percent int
	size    int64
	set     func(percent int) int
}

// sentinel is garbage at once, so that its cleanup runs after each collection. It contains a pointer
// because objects without any may be kept for longer.
type sentinel struct{ _ *sentinel }

// begin sets the percentage for the heap as it is now, and does so again after each collection.
func (p pace) begin() {
	p.set(p.of(heap()))
	runtime.AddCleanup(&sentinel{}, pace.begin, p)
}

// of returns the percentage at which the next collection starts at the size. The runtime adds it of
// what is in use and of its roots, which are global variables and stacks.
// https://go.dev/doc/gc-guide#GOGC
func (p pace) of(live, roots int64) int {
	free, scanned := p.size-live, max(live+roots, 1<<20)
	if free <= 0 {
		return p.percent
	}
	return max(p.percent, int(min(free*100/scanned, math.MaxInt32)))
}

// heap returns the bytes that were in use at the last garbage collection, and those of its roots.
func heap() (live, roots int64) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/globals:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	metrics.Read(sample)
	of := func(i int) int64 { return int64(min(sample[i].Value.Uint64(), math.MaxInt64/2)) } //nolint:gosec // it is limited
	return of(0), of(1) + of(2)
}
