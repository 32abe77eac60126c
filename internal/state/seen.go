package state

import (
	"slices"
	"time"
)

// FirstSeen records since when a target has a snapshot. It does nothing while
// the snapshot stays the same. If the snapshot returns after another one, the
// time starts again.
func FirstSeen(target Target, snapshot string, when time.Time) Change {
	return at(target, func(r *Record) {
		if n := len(r.Seen); n == 0 || r.Seen[n-1].Snapshot != snapshot {
			r.Seen = append(r.Seen, Seen{Snapshot: snapshot, At: when})
		}
	})
}

// FirstOffered records when a version first became available to a target. It
// does nothing if the version is already recorded.
func FirstOffered(target Target, version Version) Change {
	return at(target, func(r *Record) {
		if !slices.ContainsFunc(r.Versions, version.same) {
			r.Versions = append(r.Versions, version)
		}
	})
}

// same reports whether two values are the same version, regardless of the time.
func (v Version) same(other Version) bool {
	return v.Component == other.Component && v.Tag == other.Tag && v.Digest == other.Digest
}
