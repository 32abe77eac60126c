package state

import (
	"slices"
	"time"

	"promoter/internal/image"
)

// Leaving is what a target is leaving, or left, by a rollback: no environment that follows it gets
// these versions until the rollback is resumed.
type Leaving struct {
	Act
	From []string // repository:tag@digest
}

// Covers reports whether a version is among those that are left.
func (l Leaving) Covers(repository image.Repository, version image.Version) bool {
	return anyCovers(slices.Values(l.From), repository, version)
}

// Leaving returns what the target is leaving. A rollback by promoter itself ends when the versions of before
// are there; what failed stays rejected, and counts until then and after.
func (r Record) Leaving() []Leaving {
	var all []Leaving
	if back := r.Rollback; back != nil && len(back.From) > 0 {
		all = append(all, Leaving{back.Act, back.From})
	}
	for _, rejection := range r.Rejections {
		if rejection.Rollback {
			from := make([]string, 0, len(rejection.Images))
			for _, text := range rejection.Images {
				from = append(from, text)
			}
			slices.Sort(from)
			all = append(all, Leaving{rejection.Act, from})
		}
	}
	return all
}

// stillLeaving returns what a new rollback of the target leaves: also what the rollback leaves that it
// replaces, except for what it returns to.
func (r Record) stillLeaving(next RolledBack) []string {
	from := slices.Clone(next.From)
	if r.Rollback != nil {
		from = append(from, r.Rollback.From...)
	}
	from = slices.DeleteFunc(from, func(text string) bool {
		left, err := image.Parse(text)
		return err == nil && covered(next.Images, left.Repository, left.Version())
	})
	slices.Sort(from)
	return slices.Compact(from)
}

// CancelRollback ends a rollback of a target whose pull request a user closed. The hold of the rollback
// stays. What promoter rolled back by itself is no longer rejected: the user keeps it.
func CancelRollback(target Target, rollback RolledBack) Change {
	return at(target, func(r *Record) {
		if r.Rollback == nil || !r.Rollback.Is(rollback) {
			return
		}
		r.Rollback = nil
		r.Rejections = slices.DeleteFunc(r.Rejections, func(x Rejection) bool {
			return x.Rollback && utc(x.At).Equal(utc(rollback.At))
		})
	})
}

// Is reports whether two values are the same rollback.
func (b RolledBack) Is(other RolledBack) bool {
	return utc(b.At).Equal(utc(other.At)) && b.By.Same(other.By) && b.Automatic == other.Automatic
}

// ClosedByUser records that a user closed a pull request, which canceled a rollback. A close that promoter
// recorded as its own before was undone since: the last one counts.
func ClosedByUser(target Target, number int, reason string, when time.Time) Change {
	return at(target, func(r *Record) {
		r.Closings = slices.DeleteFunc(r.Closings, func(c Closing) bool { return c.Number == number })
		r.Closings = append(r.Closings, Closing{Number: number, Reason: reason, At: when, ByUser: true})
	})
}
