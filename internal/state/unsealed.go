package state

import (
	"slices"
	"time"
)

// This file keeps the times that were recorded before the first seal. Any user who may push the branch can have
// written them. On plain Git, nothing else shows since when a version is there, and nowhere since when one was available. So
// they are set aside: they do not count, and an administrator may adopt them.

// SetTimesAside returns the times of a branch of which no seal is known, as times that do not count.
func SetTimesAside(current State) State {
	kept := State{}
	for _, target := range current.Targets() {
		given := current.At(target)
		times := slices.Concat(given.UnsealedSeen, given.Seen)
		versions := slices.Concat(given.UnsealedVersions, given.Versions)
		if len(times)+len(versions) > 0 {
			kept = kept.With(target, func(r *Record) { r.UnsealedSeen, r.UnsealedVersions = times, versions })
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
		if len(record.UnsealedSeen)+len(record.UnsealedVersions) > 0 {
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

// UnsealedSince returns since when a version was available to a target, according to a time that does not count because it has
// no seal. It returns false if there is none.
func (s State) UnsealedSince(target Target, version Version) (time.Time, bool) {
	versions := s.At(target).UnsealedVersions
	if i := slices.IndexFunc(versions, version.same); i >= 0 {
		return versions[i].At, true
	}
	return time.Time{}, false
}

// AdoptVersions makes the times count that were set aside for versions, and ends all others of the target. A time that is gone
// since it was read, or that is not earlier than the one that counts, is not adopted.
func AdoptVersions(target Target, versions []Version) Change {
	return at(target, func(r *Record) {
		r.Versions = slices.Clone(r.Versions)
		for _, one := range versions {
			given := func(v Version) bool { return v.same(one) && v.At.Equal(one.At) }
			if !slices.ContainsFunc(r.UnsealedVersions, given) {
				continue
			}
			switch i := slices.IndexFunc(r.Versions, one.same); {
			case i < 0:
				r.Versions = slices.Insert(r.Versions, 0, one) // it is older
			case one.At.Before(r.Versions[i].At):
				r.Versions[i].At = one.At
			}
		}
		r.UnsealedVersions = nil
	})
}

// EndUnsealed ends times that were set aside for versions that wait for nothing anymore.
func EndUnsealed(target Target, versions []Version) Change {
	return at(target, func(r *Record) {
		ended := func(v Version) bool { return slices.ContainsFunc(versions, v.same) }
		r.UnsealedVersions = slices.DeleteFunc(slices.Clone(r.UnsealedVersions), ended)
	})
}
