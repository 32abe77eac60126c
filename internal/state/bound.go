package state

import (
	"maps"
	"slices"
)

// How many entries of each list a record keeps; the oldest go first.
const (
	maxSeen       = 20
	maxClosings   = 50
	maxRejections = 200
	maxVersions   = 50 // of each component
)

// clone copies everything that a change may write to.
func (r Record) clone() Record {
	r.Hold, r.Resumed = copied(r.Hold), copied(r.Resumed)
	r.Freeze, r.Request, r.Rollback, r.Reopened = copied(r.Freeze), copied(r.Request), copied(r.Rollback), copied(r.Reopened)
	r.Rejections, r.Closings = slices.Clone(r.Rejections), slices.Clone(r.Closings)
	r.Seen, r.Versions = slices.Clone(r.Seen), slices.Clone(r.Versions)
	if r.Rollback != nil {
		r.Rollback.Images = maps.Clone(r.Rollback.Images)
	}
	return r
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// empty says that the record says nothing: its file can go.
func (r *Record) empty() bool {
	return r.Hold == nil && r.Freeze == nil && r.Resumed == nil && r.Request == nil && r.Rollback == nil &&
		r.Reopened == nil && len(r.Rejections)+len(r.Closings)+len(r.Seen)+len(r.Versions) == 0
}

// bound brings a record into the form in which it is written.
func (r *Record) bound() {
	r.Schema = Schema
	r.Rejections = last(r.Rejections, maxRejections)
	r.Closings = last(r.Closings, maxClosings)
	r.Seen = last(r.Seen, maxSeen)
}

func last[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
