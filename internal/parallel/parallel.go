// Package parallel calls a function for many values at the same time.
package parallel

import (
	"golang.org/x/sync/errgroup"

	"promoter/internal/fault"
)

// ForEach calls do for every value, at most limit at a time, and waits for all
// calls. It returns the first error; the other values are processed anyway. A panic
// in a call becomes an error, because in a goroutine it would end the process.
func ForEach[T any](limit int, values []T, do func(T) error) error {
	var group errgroup.Group
	group.SetLimit(limit)
	for _, value := range values {
		group.Go(func() (err error) {
			defer fault.Survive(&err)
			return do(value)
		})
	}
	return group.Wait()
}
