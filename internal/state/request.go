package state

import "slices"

// MaxWith is how many versions a request may name. Each is a question to a
// registry, in every pass until the request is done.
const MaxWith = 100

// maxImage is the longest text of a version in bytes, above what the parts of a
// reference may have together.
const maxImage = 1024

// bounded says whether a request is none that keeps a pass busy. A shorter one
// would be another request, so it is not cut.
func (r *Request) bounded() bool {
	if r == nil {
		return true
	}
	long := func(text string) bool { return len(text) > maxImage }
	return len(r.With) <= MaxWith && !slices.ContainsFunc(r.With, long)
}

// Ask asks for a promotion into a place.
func Ask(target Target, request Request) Change {
	return at(target, func(r *Record) {
		if r.Request == nil || !r.Request.same(request) {
			r.Request = &request
		}
	})
}

// Take binds a request to the snapshot that it was taken for. Another request
// that came meanwhile is left alone.
func Take(target Target, request Request, snapshot string) Change {
	return at(target, func(r *Record) {
		if r.Request != nil && r.Request.same(request) {
			r.Request.Snapshot = snapshot
		}
	})
}

// Fulfill drops a request that is done, or that nothing can come of. Another
// request that came meanwhile is left alone.
func Fulfill(target Target, request Request) Change {
	return at(target, func(r *Record) {
		if r.Request != nil && r.Request.same(request) {
			r.Request = nil
		}
	})
}

// same says whether two values are one request, bound or not.
func (r Request) same(other Request) bool {
	return utc(r.At).Equal(utc(other.At)) && r.By.Same(other.By)
}
