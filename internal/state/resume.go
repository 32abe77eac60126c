package state

import "slices"

// Resume ends the hold and the rollback of a place and drops what was rejected
// there until now, so that it may be proposed again. A freeze stays: it is thawed.
func Resume(place Place, act Act) Change {
	return at(place, func(r *Record) {
		r.Hold, r.Rollback, r.Reopened = nil, nil, nil
		r.Rejections = slices.DeleteFunc(r.Rejections, func(x Rejection) bool { return !utc(x.At).After(utc(act.At)) })
		if r.Resumed == nil || act.At.After(r.Resumed.At) {
			r.Resumed = &act
		}
	})
}
