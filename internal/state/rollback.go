package state

// Rollback restores the versions of the rollback in a target and holds the
// target until it is resumed. It drops a pending request.
func Rollback(target Target, rollback RolledBack) Change {
	return at(target, func(r *Record) {
		hold := rollback.Act
		r.Rollback, r.Hold, r.Request = &rollback, &hold, nil
	})
}
