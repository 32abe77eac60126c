package state

import "time"

// Freeze stops an environment, or the repository with All, until it is thawed
// or until the given time, if any.
func Freeze(environment string, act Act, until *time.Time) Change {
	return at(Target{environment, All}, func(r *Record) { r.Freeze = &Frozen{Act: act, Until: until} })
}

// Thaw ends a freeze.
func Thaw(environment string) Change {
	return at(Target{environment, All}, func(r *Record) { r.Freeze = nil })
}
