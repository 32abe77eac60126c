package state

import (
	"slices"
	"time"
)

// Closed records that promoter itself closes a pull request. It is written
// before the close.
func Closed(target Target, number int, reason string, when time.Time) Change {
	return at(target, func(r *Record) {
		known := func(c Closing) bool { return c.Number == number }
		if !slices.ContainsFunc(r.Closings, known) {
			r.Closings = append(r.Closings, Closing{Number: number, Reason: reason, At: when})
		}
	})
}

// ReopenedOnce records that the deleted head branch of a pull request was
// pushed again, which happens only once.
func ReopenedOnce(target Target, number int, when time.Time) Change {
	return at(target, func(r *Record) {
		if r.Reopened == nil {
			r.Reopened = &Reopened{Number: number, At: when}
		}
	})
}
