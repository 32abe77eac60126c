package state

import "slices"

// MaxWith limits the versions in a request. Each one requires a registry lookup
// in every reconciliation until the request is done.
const MaxWith = 100

// maxImage limits a version in a request, in bytes. It is more than the parts
// of a reference can have together.
const maxImage = 1024

// bounded reports whether the request is within the limits. A longer request is
// refused rather than truncated, because a truncated one would be a different
// request.
func (r *Request) bounded() bool {
	if r == nil {
		return true
	}
	long := func(text string) bool { return len(text) > maxImage }
	return len(r.With) <= MaxWith && !slices.ContainsFunc(r.With, long)
}

// Ask requests a promotion to a target.
func Ask(target Target, request Request) Change {
	return at(target, func(r *Record) {
		if r.Request == nil || !r.Request.same(request) {
			r.Request = &request
		}
	})
}

// Take binds a request to a snapshot. A different request that arrived in the
// meantime is left unchanged.
func Take(target Target, request Request, snapshot string) Change {
	return at(target, func(r *Record) {
		if r.Request != nil && r.Request.same(request) {
			r.Request.Snapshot = snapshot
		}
	})
}

// Fulfill drops a request that is done or cannot be fulfilled. A different
// request that arrived in the meantime is left unchanged.
func Fulfill(target Target, request Request) Change {
	return at(target, func(r *Record) {
		if r.Request != nil && r.Request.same(request) {
			r.Request = nil
		}
	})
}

// same reports whether two values are the same request, regardless of the
// snapshot.
func (r Request) same(other Request) bool {
	return utc(r.At).Equal(utc(other.At)) && r.By.Same(other.By)
}
