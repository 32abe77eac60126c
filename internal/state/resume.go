package state

import "slices"

// Resume ends the hold and the rollback of a place and drops what was rejected
// there until now, so that it may be proposed again. Resuming an environment
// resumes every application in it, and the repository all of them: whoever says
// "go on" does not know who held what. A freeze stays: it is thawed.
func Resume(place Place, act Act) Change {
	return func(s State) State {
		s = resumeOne(place, act)(s)
		for _, narrow := range s.Places() {
			if narrow != place && slices.Contains(narrow.within(), place) {
				s = resumeOne(narrow, act)(s)
			}
		}
		return s
	}
}

func resumeOne(place Place, act Act) Change {
	return at(place, func(r *Record) {
		r.Hold, r.Rollback, r.Reopened = nil, nil, nil
		r.Rejections = slices.DeleteFunc(r.Rejections, func(x Rejection) bool { return !utc(x.At).After(utc(act.At)) })
		if r.Resumed == nil || act.At.After(r.Resumed.At) {
			r.Resumed = &act
		}
	})
}
