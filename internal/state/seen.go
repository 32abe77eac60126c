package state

import (
	"slices"
	"time"
)

// FirstSeen remembers since when a snapshot stands in a place. It changes nothing
// while the same one stands, and begins anew when it comes back after another.
func FirstSeen(target Target, snapshot string, when time.Time) Change {
	return at(target, func(r *Record) {
		if n := len(r.Seen); n == 0 || r.Seen[n-1].Snapshot != snapshot {
			r.Seen = append(r.Seen, Seen{Snapshot: snapshot, At: when})
		}
	})
}

// FirstOffered remembers when a version was first offered to a place. Its At is
// kept only when the version is new there.
func FirstOffered(target Target, version Version) Change {
	return at(target, func(r *Record) {
		if !slices.ContainsFunc(r.Versions, version.same) {
			r.Versions = append(r.Versions, version)
		}
	})
}

// same says whether two values are of one version, whenever they were offered.
func (v Version) same(other Version) bool {
	return v.Component == other.Component && v.Tag == other.Tag && v.Digest == other.Digest
}
