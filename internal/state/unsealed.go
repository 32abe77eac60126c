package state

import (
	"slices"
	"time"
)

// This file keeps the times that were recorded before the first seal. Any user who may push the branch can have
// written them, and only they show on plain Git since when a version is there. So they are set aside: they do not count,
// and an administrator may adopt them.

// SetTimesAside returns the times of a branch of which no seal is known, as times that do not count.
func SetTimesAside(current State) State {
	kept := State{}
	for _, target := range current.Targets() {
		given := current.At(target)
		if times := slices.Concat(given.UnsealedSeen, given.Seen); len(times) > 0 {
			kept = kept.With(target, func(r *Record) { r.UnsealedSeen = times })
		}
	}
	return kept
}

// isOf reports whether a time is about a snapshot, or about what a commit brought.
func (s Seen) isOf(snapshot, commit string) bool {
	return s.Snapshot == snapshot || s.Commit != "" && s.Commit == commit
}

// Unsealed returns since when a snapshot that a commit brought is in a target, according to a time that does not count
// because it has no seal. It returns false if there is none.
func (s State) Unsealed(target Target, snapshot, commit string) (time.Time, bool) {
	times := s.At(target).UnsealedSeen
	if n := len(times); n > 0 && times[n-1].isOf(snapshot, commit) {
		return times[n-1].At, true
	}
	return time.Time{}, false
}

// SetAside returns the targets with times that do not count because they have no seal.
func (s State) SetAside() (targets []Target) {
	for target, record := range s.records.all() {
		if len(record.UnsealedSeen) > 0 {
			targets = append(targets, target)
		}
	}
	slices.SortFunc(targets, Target.compare)
	return targets
}

// Adopt makes times count that were set aside, each with the commit that it is about, and ends all others of the target.
// A time that is gone since it was read is not adopted.
func Adopt(target Target, times []Seen) Change {
	return at(target, func(r *Record) {
		var adopted []Seen
		for _, one := range times {
			if slices.ContainsFunc(r.UnsealedSeen, func(s Seen) bool { return s.Snapshot == one.Snapshot && s.At.Equal(one.At) }) {
				adopted = append(adopted, one)
			}
		}
		r.Seen = slices.Concat(adopted, r.Seen) // they are older
		r.UnsealedSeen = nil
	})
}
