package state

import (
	"maps"
	"slices"
	"time"
)

// This file is about closes of pull requests. One that counts is a rejection with the number of the
// pull request. The others are settled: a bot closed it, or a user acted otherwise since.

// Settled is a close of a pull request that rejects nothing.
type Settled struct {
	Number int       `json:"number"`
	At     time.Time `json:"at"` // of the close, by the clock of the forge
	// Images are the versions of a pull request that a bot closed, which is opened again once. They are
	// REPOSITORY:TAG@DIGEST by component. Empty: a later act of a user settled the close.
	Images map[string]string `json:"images,omitempty"`
}

// EndsByLaterActs reports whether a rejection in the record of a target ends when a user reopens or merges
// the pull request, or writes the versions. What users rejected explicitly does not.
func (r Rejection) EndsByLaterActs(target Target) bool {
	closed := r.Number != 0 && target.Application != All // with All, it is a command in a comment
	return closed || r.MovedBack
}

// Saw returns the commits at which a decision saw the branch of its target; none: that is not recorded. A commit that
// they do not contain is later.
func (r Rejection) Saw() []string {
	if len(r.Heads) > 0 || r.Location == nil || r.Location.Heads[r.Location.Branch] == "" {
		return r.Heads
	}
	return []string{r.Location.Heads[r.Location.Branch]}
}

// Rejecting returns the targets whose records have rejections that end by later acts, sorted.
func (s State) Rejecting() []Target {
	return targetsWith(s, func(target Target, record Record) bool {
		return slices.ContainsFunc(record.Rejections, func(r Rejection) bool { return r.EndsByLaterActs(target) })
	})
}

// Overruled records that a later act of a user ended a rejection of some versions in a target, by
// component. The close that it came from stays settled.
func Overruled(target Target, rejection Rejection, images map[string]string) Change {
	return at(target, func(r *Record) {
		i := slices.IndexFunc(r.Rejections, rejection.sameOrigin)
		if i < 0 || !r.Rejections[i].EndsByLaterActs(target) {
			return
		}
		left := maps.Clone(r.Rejections[i].Images)
		maps.DeleteFunc(left, func(component, text string) bool { return images[component] == text })
		switch len(left) {
		case len(r.Rejections[i].Images):
			return
		case 0:
			r.Rejections = slices.Delete(r.Rejections, i, i+1)
		default:
			r.Rejections[i].Images = left
		}
		if rejection.Number != 0 {
			r.settle(Settled{Number: rejection.Number, At: rejection.At})
		}
	})
}

// sameOrigin reports whether two values are the same rejection, also if some of its versions ended since.
func (r Rejection) sameOrigin(other Rejection) bool {
	return r.Number == other.Number && r.Form == other.Form && r.MovedBack == other.MovedBack && utc(r.At).Equal(utc(other.At))
}

// Settle records a close that rejects nothing.
func Settle(target Target, closed Settled) Change {
	return at(target, func(r *Record) { r.settle(closed) })
}

func (r *Record) settle(closed Settled) {
	i := slices.IndexFunc(r.Settled, func(s Settled) bool { return s.Number == closed.Number && utc(s.At).Equal(utc(closed.At)) })
	if i < 0 {
		r.Settled = append(r.Settled, closed)
	}
}

// IsSettled reports whether a close of a pull request rejects nothing, because it is recorded so.
// A pull request may be closed again later.
func (r Record) IsSettled(number int, closed time.Time) bool {
	return slices.ContainsFunc(r.Settled, func(one Settled) bool {
		return one.Number == number && !utc(closed).After(utc(one.At))
	})
}

// ReopenedFor reports whether a pull request with the same versions was opened again after a bot had closed it.
func (r Record) ReopenedFor(images map[string]string) (number int, reopened bool) {
	for _, one := range r.Settled {
		if len(one.Images) > 0 && maps.Equal(one.Images, images) {
			return one.Number, true
		}
	}
	return 0, false
}

// IsBlocked reports whether it is recorded that a bot closed a pull request again, whose versions are blocked since.
func (r Record) IsBlocked(number int, closed time.Time) bool {
	return slices.ContainsFunc(r.Rejections, func(x Rejection) bool {
		return x.Blocked && x.Number == number && !utc(closed).After(utc(x.At))
	})
}
