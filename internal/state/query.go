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
	Place   Place      // where it was said
	Until   *time.Time // when it ends by itself
	Problem string     // why the file of the place cannot be read; nobody held it then
}

// Held returns the hold or freeze that keeps an application in an environment
// from moving now, the widest one first. A file that cannot be read may hold
// one, and holds.
func (s State) Held(environment, application string, now time.Time) (Held, bool) {
	for _, place := range within(environment, application) {
		record := s.records[place]
		if problem, broken := s.broken[place]; broken {
			return Held{Place: place, Problem: problem.Reason}, true
		}
		if f := record.Freeze; f != nil && (f.Until == nil || f.Until.After(now)) {
			return Held{Act: f.Act, Freeze: true, Place: place, Until: f.Until}, true
		}
		if record.Hold != nil {
			return Held{Act: *record.Hold, Place: place}, true
		}
	}
	return Held{}, false
}

// Rejected returns the rejection of a version of a component, by its digest or,
// where one side knows none, by its repository and tag. The component's name
// plays no part: what it is called may change, what was rejected does not.
func (s State) Rejected(environment, application, component, repository, tag, digest string) (Rejection, bool) {
	for _, place := range within(environment, application) {
		for _, rejection := range s.records[place].Rejections {
			if rejection.covers(repository, tag, digest) {
				return rejection, true
			}
		}
	}
	return Rejection{}, false
}

func (r Rejection) covers(repository, tag, digest string) bool {
	for _, text := range r.Images {
		rejected, err := image.Parse(text)
		switch {
		case err != nil:
		case rejected.Digest != "" && digest != "":
			if rejected.Digest == digest {
				return true
			}
		case rejected.Repository.String() == repository && tag != "" && rejected.Tag == tag:
			return true
		}
	}
	return false
}

// RequestOf returns what somebody asked for in a place.
func (s State) RequestOf(environment, application string) (Request, bool) {
	r := s.At(Place{environment, application}).Request
	if r == nil {
		return Request{}, false
	}
	return *r, true
}

// SeenAt returns since when a snapshot stands in a place, or last stood there.
func (s State) SeenAt(place Place, snapshot string) (time.Time, bool) {
	seen := s.At(place).Seen
	for i := len(seen) - 1; i >= 0; i-- {
		if seen[i].Snapshot == snapshot {
			return seen[i].At, true
		}
	}
	return time.Time{}, false
}

// OfferedAt returns when a version was first offered to a place.
func (s State) OfferedAt(place Place, version Version) (time.Time, bool) {
	versions := s.At(place).Versions
	if i := slices.IndexFunc(versions, version.same); i >= 0 {
		return versions[i].At, true
	}
	return time.Time{}, false
}

// ClosedByUs returns promoter's own reason for closing a pull request.
func (s State) ClosedByUs(place Place, number int) (Closing, bool) {
	closings := s.At(place).Closings
	if i := slices.IndexFunc(closings, func(c Closing) bool { return c.Number == number }); i >= 0 {
		return closings[i], true
	}
	return Closing{}, false
}
