package state

// Hold stops a target until it is resumed.
func Hold(target Target, act Act) Change {
	return at(target, func(r *Record) { r.Hold = &act })
}
