package state

// Rollback brings a place back to the versions of the rollback and holds it until
// it is resumed. What was asked for there before is dropped.
func Rollback(target Target, rollback RolledBack) Change {
	return at(target, func(r *Record) {
		hold := rollback.Act
		r.Rollback, r.Hold, r.Request = &rollback, &hold, nil
	})
}
