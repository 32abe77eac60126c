package state

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// State is every record of the branch. The zero value is an empty branch. It is a
// value: changing it makes another.
type State struct {
	records map[Place]Record
	broken  map[Place]Problem
}

// At returns the record of exactly one place, the zero one when there is none. It
// is read only.
func (s State) At(place Place) Record { return s.records[place] }

// Places returns the places that have a record, sorted: the repository first,
// then the environments, each before its applications.
func (s State) Places() []Place {
	return slices.SortedFunc(maps.Keys(s.records), Place.compare)
}

// With returns the state in which the record of a place is changed. The change
// gets a copy. A place whose file could not be read stays as it is: overwriting
// the file would lose what it says, so a person has to repair it.
func (s State) With(place Place, change func(*Record)) State {
	if _, broken := s.broken[place]; broken || !place.valid() {
		return s
	}
	record := s.records[place].clone()
	change(&record)
	record.bound()
	next := maps.Clone(s.records)
	if next == nil {
		next = map[Place]Record{}
	}
	if record.empty() {
		delete(next, place)
	} else {
		next[place] = record
	}
	return State{records: next, broken: s.broken}
}

// Problems returns the files that could not be read, sorted by place. Their
// places are held until somebody repairs them.
func (s State) Problems() []Problem {
	return slices.SortedFunc(maps.Values(s.broken), func(a, b Problem) int { return a.Place.compare(b.Place) })
}

// Problem is a file of the branch that could not be read.
type Problem struct {
	Place  Place
	Reason string
}

// String says the problem in one line.
func (p Problem) String() string { return p.Place.path() + " on " + Branch + ": " + p.Reason }

// compare sorts what is wider before what it holds.
func (p Place) compare(q Place) int {
	if c := strings.Compare(wideFirst(p.Environment), wideFirst(q.Environment)); c != 0 {
		return c
	}
	return strings.Compare(wideFirst(p.Application), wideFirst(q.Application))
}

func wideFirst(name string) string {
	if name == All {
		return ""
	}
	return name
}

// String names the place for people.
func (p Place) String() string {
	switch {
	case p.Environment == All:
		return "the repository"
	case p.Application == All:
		return p.Environment
	default:
		return p.Application + " in " + p.Environment
	}
}

// within returns the places whose records count for a place, the widest first.
func (p Place) within() []Place {
	return slices.Compact([]Place{{All, All}, {p.Environment, All}, p})
}

// utc is how times are kept: whole seconds, so that what is read back is what was
// written.
func utc(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
