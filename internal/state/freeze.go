package state

import "time"

// Freeze stops an environment, or with All the repository, until it is thawed or
// until the time, if there is one.
func Freeze(environment string, act Act, until *time.Time) Change {
	return at(Target{environment, All}, func(r *Record) { r.Freeze = &Frozen{Act: act, Until: until} })
}

// Thaw ends a freeze.
func Thaw(environment string) Change {
	return at(Target{environment, All}, func(r *Record) { r.Freeze = nil })
}
