package state

// Ask asks for a promotion into a place.
func Ask(place Place, request Request) Change {
	return at(place, func(r *Record) {
		if r.Request == nil || !r.Request.same(request) {
			r.Request = &request
		}
	})
}

// Take binds a request to the snapshot that it was taken for. Another request
// that came meanwhile is left alone.
func Take(place Place, request Request, snapshot string) Change {
	return at(place, func(r *Record) {
		if r.Request != nil && r.Request.same(request) {
			r.Request.Snapshot = snapshot
		}
	})
}

// Fulfil drops a request that is done, or that nothing can come of. Another
// request that came meanwhile is left alone.
func Fulfil(place Place, request Request) Change {
	return at(place, func(r *Record) {
		if r.Request != nil && r.Request.same(request) {
			r.Request = nil
		}
	})
}

// same says whether two values are one request, bound or not.
func (r Request) same(other Request) bool {
	return utc(r.At).Equal(utc(other.At)) && r.By.Same(other.By)
}
