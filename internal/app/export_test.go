package app

import "time"

// SetPace changes the distance between two writes to a forge.
func (s *Server) SetPace(pace time.Duration) { s.pace = pace }

// SetNow changes the clock.
func (s *Server) SetNow(now func() time.Time) { s.now = now }
