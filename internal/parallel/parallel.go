// Package parallel calls a function for many values at the same time.
package parallel

import (
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"promoter/internal/fault"
)

// ForEach calls do for every value, at most limit at a time, and waits for all
// calls. It returns the first error; the other values are processed anyway. A panic
// in a call becomes an error, because in a goroutine it would end the process.
func ForEach[T any](limit int, values []T, do func(T) error) error {
	var group errgroup.Group
	var begun atomic.Int64
	for range min(limit, len(values)) { // a goroutine for each value would grow its stack each time
		group.Go(func() error {
			var first error
			for at := begun.Add(1); at <= int64(len(values)); at = begun.Add(1) {
				if err := call(do, values[at-1]); first == nil {
					first = err
				}
			}
			return first
		})
	}
	return group.Wait()
}

func call[T any](do func(T) error, value T) (err error) {
	defer fault.Survive(&err)
	return do(value)
}
