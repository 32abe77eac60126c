package state

import (
	"slices"
	"time"
)

// Closed records that promoter itself closes a pull request. It is written before the
// close.
func Closed(target Target, number int, reason string, when time.Time) Change {
	return at(target, func(r *Record) {
		if !slices.ContainsFunc(r.Closings, func(c Closing) bool { return c.Number == number }) {
			r.Closings = append(r.Closings, Closing{Number: number, Reason: reason, At: when})
		}
	})
}

// ReopenedOnce records that the deleted head branch of a pull request was pushed again,
// which is done once.
func ReopenedOnce(target Target, number int, when time.Time) Change {
	return at(target, func(r *Record) {
		if r.Reopened == nil {
			r.Reopened = &Reopened{Number: number, At: when}
		}
	})
}

// FirstSeen records since when a snapshot is in a target, with a commit that has it. It changes nothing while that
// is recorded last, and starts again when it comes back after another. Then the times that were set aside end, and also
// where they are not earlier.
func FirstSeen(target Target, snapshot, commit string, when time.Time) Change {
	return at(target, func(r *Record) {
		if n := len(r.UnsealedSeen); n > 0 && !(r.UnsealedSeen[n-1].isOf(snapshot, commit) && r.UnsealedSeen[n-1].At.Before(when)) {
			r.UnsealedSeen = nil
		}
		if n := len(r.Seen); n == 0 || r.Seen[n-1].Snapshot != snapshot || r.Seen[n-1].Commit != commit {
			r.Seen = append(r.Seen, Seen{Snapshot: snapshot, At: when, Commit: commit})
		}
	})
}

// SeenSince returns since when a snapshot is in a target, or was last there.
func (s State) SeenSince(target Target, snapshot string) (time.Time, bool) {
	for _, seen := range slices.Backward(s.At(target).Seen) {
		if seen.Snapshot == snapshot {
			return seen.At, true
		}
	}
	return time.Time{}, false
}

// FirstAvailable records when a version was first available to a target. Its At is kept
// only when the version is new there.
func FirstAvailable(target Target, version Version) Change {
	return at(target, func(r *Record) {
		if !slices.ContainsFunc(r.Versions, version.same) {
			r.Versions = append(r.Versions, version)
		}
	})
}

// AvailableSince returns when a version was first available to a target.
func (s State) AvailableSince(target Target, version Version) (time.Time, bool) {
	versions := s.At(target).Versions
	if i := slices.IndexFunc(versions, version.same); i >= 0 {
		return versions[i].At, true
	}
	return time.Time{}, false
}

// Earliest returns the earliest time of a digest in a list of the records of all targets: the age of an image is the same in all of
// them. It returns false if it is in none.
func Earliest(in State, list func(Record) []Version, component, digest string) (first time.Time, known bool) {
	for _, record := range in.records.all() {
		for _, version := range list(record) {
			if version.Component == component && version.Digest == digest && (!known || version.At.Before(first)) {
				first, known = version.At, true
			}
		}
	}
	return first, known
}

// Observe records the digest of a tag that a user wrote to a target. It changes nothing
// when the tag was observed there before.
func Observe(target Target, observed Observed) Change {
	return at(target, func(r *Record) {
		known := func(o Observed) bool { return o.Repository == observed.Repository && o.Tag == observed.Tag }
		if !slices.ContainsFunc(r.Observed, known) {
			r.Observed = append(r.Observed, observed)
		}
	})
}

// ObservedDigest returns the digest that a tag had when it was first seen in a target.
func (s State) ObservedDigest(target Target, repository, tag string) (digest string, known bool) {
	observed := s.At(target).Observed
	i := slices.IndexFunc(observed, func(o Observed) bool { return o.Repository == repository && o.Tag == tag })
	if i < 0 {
		return "", false
	}
	return observed[i].Digest, true
}
