package state

// Hold stops a place until it is resumed.
func Hold(place Place, act Act) Change {
	return at(place, func(r *Record) { r.Hold = &act })
}
