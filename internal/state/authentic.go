package state

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"promoter/internal/identity"
)

// Ignored is a change of a record that has no effect: it loosens something, and promoter
// did not write it.
type Ignored struct {
	Target Target
	Keys   []string // of the record
}

// String returns it in one line: "request, seen of shop in prod".
func (i Ignored) String() string { return strings.Join(i.Keys, ", ") + " of " + i.Target.String() }

// OnlyObserved reports whether no decision of a user is among what is ignored.
func (i Ignored) OnlyObserved() bool {
	return !slices.ContainsFunc(i.Keys, func(key string) bool {
		return !slices.Contains([]string{"seen", "unsealedSeen", "versions", "unsealedVersions", "observed", "posted"}, key)
	})
}

// Authentic returns what counts where users changed the branch after promoter wrote it:
// the sealed state, and the holds, freezes, and rejections that the current one adds. Any
// user who may push the branch may stop promotions. All else that differs is ignored: a
// request or a rollback, a hold that was removed, times, and what promoter remembers.
//
// A file that cannot be read may be the try of a user to hold its target, so it does.
func Authentic(sealed, current State, now time.Time) (State, []Ignored) {
	authentic := State{records: sealed.records, broken: sealed.broken}
	var ignored []Ignored
	targets := slices.Concat(sealed.Targets(), current.Targets())
	for target := range current.broken {
		targets = append(targets, target)
	}
	slices.SortFunc(targets, Target.compare)
	for _, target := range slices.Compact(targets) {
		if _, broken := sealed.broken[target]; broken { // it is held
			continue
		}
		record, given := sealed.At(target).clone(), current.At(target).clone()
		if problem, broken := current.broken[target]; broken {
			ignored = append(ignored, Ignored{Target: target, Keys: []string{"the content"}})
			given.Hold = &Act{By: identity.User{Login: "unknown"}, At: now, Reason: "its file could not be read: " + problem.Reason}
			record.tighten(given)
		} else {
			record.tighten(given)
			if keys := record.differs(given); len(keys) > 0 {
				ignored = append(ignored, Ignored{Target: target, Keys: keys})
			}
		}
		record.normalize()
		authentic.records = authentic.records.with(target, record)
	}
	return authentic, ignored
}

// Bookkeeping returns what promoter itself remembered, of a branch that never had a seal:
// which pull requests it closed, and which comments it processed. Without it, the first seal
// would make closes of promoter those of users, and old commands would be processed again.
// Times are set aside, see SetTimesAside.
func Bookkeeping(current State) State {
	kept := SetTimesAside(current)
	for _, target := range current.Targets() {
		given := current.At(target)
		if given.Reopened == nil && given.CommentsFrom == nil && len(given.Closings)+len(given.Settled)+len(given.ProcessedComments) == 0 {
			continue
		}
		kept = kept.With(target, func(r *Record) {
			r.Closings, r.Settled = given.Closings, given.Settled
			r.Reopened = given.Reopened
			r.CommentsFrom, r.ProcessedComments = given.CommentsFrom, given.ProcessedComments
		})
	}
	return kept
}

// tighten adds what stops more. Added rejections come first: the limits of a record drop
// the first ones, so that a user cannot displace those that are there.
func (r *Record) tighten(given Record) {
	if r.Hold == nil {
		r.Hold = given.Hold
	}
	if given.Freeze != nil && (r.Freeze == nil ||
		r.Freeze.Until != nil && (given.Freeze.Until == nil || given.Freeze.Until.After(*r.Freeze.Until))) {
		longer := *given.Freeze
		if r.Freeze != nil { // only the time is longer
			longer.Location = r.Freeze.Location
		}
		r.Freeze = &longer
	}
	r.Rejections = slices.Concat(without(given.Rejections, r.Rejections), r.Rejections)
}

// without returns the rejections that are not among others.
func without(all, others []Rejection) []Rejection {
	known := map[string]bool{}
	for _, one := range others {
		known[one.text()] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(one Rejection) bool { return known[one.text()] })
}

// differs returns the keys whose values differ, regardless of the order of rejections.
func (r *Record) differs(given Record) (keys []string) {
	if len(without(r.Rejections, given.Rejections)) > 0 {
		keys = append(keys, "rejections")
	}
	mine, others := *r, given
	mine.Rejections, others.Rejections = nil, nil
	if len(others.UnsealedSeen) == 0 { // they are set aside now
		mine.UnsealedSeen = nil
	}
	if len(others.UnsealedVersions) == 0 {
		mine.UnsealedVersions = nil
	}
	a, _ := members(marshal(mine))
	b, _ := members(marshal(others))
	for _, m := range slices.Concat(a, b) {
		x, _ := find(a, m.key)
		y, _ := find(b, m.key)
		if m.key != "schema" && !bytes.Equal(x.value, y.value) && !slices.Contains(keys, m.key) {
			keys = append(keys, m.key)
		}
	}
	slices.Sort(keys)
	return keys
}
