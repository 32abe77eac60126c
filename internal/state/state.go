package state

import (
	"time"
)

// State is every record of the branch. The zero value is an empty branch. It is a
// value: Change returns what to write and leaves it as it is.
type State struct {
	records map[Place]Record
}

// At returns the record of exactly one place, the zero one when there is none.
func (s State) At(place Place) Record { return s.records[place] }

// Held returns the hold or freeze that keeps an application in an environment
// from moving now, the widest one first.
func (s State) Held(environment, application string, now time.Time) (Held, bool) {
	panic("not written yet")
}

// Held is one reason for which a place stands still.
type Held struct {
	Act
	Freeze bool
	Place  Place      // where it was said
	Until  *time.Time // when it ends by itself
}

// Rejected returns the rejection of a version of a component, by its digest or,
// where one side knows none, by its tag.
func (s State) Rejected(environment, application, component, repository, tag, digest string) (Rejection, bool) {
	panic("not written yet")
}
