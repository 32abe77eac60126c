package state

import "slices"

// Resume ends the hold and the rollback of a target and drops its rejections up
// to now, so that the versions may be proposed again. Resuming an environment
// resumes every application in it, and resuming the repository resumes
// everything, because a user who resumes may not know which holds exist. A
// freeze is not affected; it must be thawed.
func Resume(target Target, act Act) Change {
	return func(s State) State {
		s = resumeOne(target, act)(s)
		for _, narrow := range s.Targets() {
			if narrow != target && slices.Contains(narrow.within(), target) {
				s = resumeOne(narrow, act)(s)
			}
		}
		return s
	}
}

func resumeOne(target Target, act Act) Change {
	return at(target, func(r *Record) {
		r.Hold, r.Rollback, r.Reopened = nil, nil, nil
		r.Rejections = slices.DeleteFunc(r.Rejections, func(x Rejection) bool { return !utc(x.At).After(utc(act.At)) })
		if r.Resumed == nil || act.At.After(r.Resumed.At) {
			r.Resumed = &act
		}
	})
}
