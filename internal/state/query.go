package state

import (
	"slices"
	"time"

	"promoter/internal/image"
)

// Held is one reason for which a place stands still.
type Held struct {
	Act
	Freeze  bool
	Place   Target     // where it was said
	Until   *time.Time // when it ends by itself
	Problem string     // why the file of the place cannot be read; nobody held it then
}

// Held returns the hold or freeze that keeps a place from moving now, the widest
// one first. A file that cannot be read may hold one, and so it holds.
func (s State) Held(target Target, now time.Time) (Held, bool) {
	for _, wide := range target.within() {
		if problem, broken := s.broken[wide]; broken {
			return Held{Place: wide, Problem: problem.Reason}, true
		}
		record := s.At(wide)
		if f := record.Freeze; f != nil && (f.Until == nil || f.Until.After(now)) {
			return Held{Act: f.Act, Freeze: true, Place: wide, Until: f.Until}, true
		}
		if record.Hold != nil {
			return Held{Act: *record.Hold, Place: wide}, true
		}
	}
	return Held{}, false
}

// Rejected returns the rejection of a version in a place, by its digest or, where
// one side knows none, by its repository and tag. The component's name plays no
// part: what it is called may change, what was rejected does not.
func (s State) Rejected(target Target, repository image.Repository, version image.Version) (Rejection, bool) {
	for _, wide := range target.within() {
		for _, rejection := range s.At(wide).Rejections {
			if rejection.covers(repository, version) {
				return rejection, true
			}
		}
	}
	return Rejection{}, false
}

func (r Rejection) covers(repository image.Repository, version image.Version) bool {
	for _, text := range r.Images {
		rejected, err := image.Parse(text)
		if err != nil {
			continue
		}
		same := rejected.Repository == repository && rejected.Tag != "" && rejected.Tag == version.Tag
		if rejected.Digest != "" && version.Digest != "" {
			same = rejected.Digest == version.Digest
		}
		if same {
			return true
		}
	}
	return false
}

// ResumedAt returns when a place, or one that holds it, was last resumed: what
// people did to a pull request before does not count any more. It is the zero
// time when that never was.
func (s State) ResumedAt(target Target) time.Time {
	var last time.Time
	for _, wide := range target.within() {
		if r := s.At(wide).Resumed; r != nil && r.At.After(last) {
			last = r.At
		}
	}
	return last
}

// SeenAt returns since when a snapshot stands in a place, or last stood there.
func (s State) SeenAt(target Target, snapshot string) (time.Time, bool) {
	for _, seen := range slices.Backward(s.At(target).Seen) {
		if seen.Snapshot == snapshot {
			return seen.At, true
		}
	}
	return time.Time{}, false
}

// OfferedAt returns when a version was first offered to a place.
func (s State) OfferedAt(target Target, version Version) (time.Time, bool) {
	versions := s.At(target).Versions
	if i := slices.IndexFunc(versions, version.same); i >= 0 {
		return versions[i].At, true
	}
	return time.Time{}, false
}
