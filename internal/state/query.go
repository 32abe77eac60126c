package state

import (
	"slices"
	"time"

	"promoter/internal/image"
)

// Held is a reason why a target is on hold.
type Held struct {
	Act
	Freeze  bool
	Place   Target     // the target of the hold or freeze
	Until   *time.Time // when it expires
	Problem string     // why the file of the target cannot be read; there is then no user decision
}

// Held returns the hold or freeze that currently stops a target, the widest one
// first. A file that cannot be read might contain one, so its target is on
// hold.
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

// Rejected returns the rejection of a version in a target, by its digest or, if
// either digest is unknown, by repository and tag. The component name is
// ignored, because a component can be renamed.
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

// ResumedAt returns when a target, or one that contains it, was last resumed.
// Earlier user actions on a pull request no longer count. It returns the zero
// time if the target was never resumed.
func (s State) ResumedAt(target Target) time.Time {
	var last time.Time
	for _, wide := range target.within() {
		if r := s.At(wide).Resumed; r != nil && r.At.After(last) {
			last = r.At
		}
	}
	return last
}

// SeenAt returns since when a target has a snapshot, or when it last had it.
func (s State) SeenAt(target Target, snapshot string) (time.Time, bool) {
	for _, seen := range slices.Backward(s.At(target).Seen) {
		if seen.Snapshot == snapshot {
			return seen.At, true
		}
	}
	return time.Time{}, false
}

// OfferedAt returns when a version first became available to a target.
func (s State) OfferedAt(target Target, version Version) (time.Time, bool) {
	versions := s.At(target).Versions
	if i := slices.IndexFunc(versions, version.same); i >= 0 {
		return versions[i].At, true
	}
	return time.Time{}, false
}
