package serverfile

import (
	"slices"

	serverconfig "promoter/internal/config/server"
)

// MayNotify reports whether a repository may use a destination of notifications. Matches
// reports whether globs name the repository.
func (s *Server) MayNotify(destination string, matches func(globs []string) bool) bool {
	d, known := s.Destination(destination)
	return known && matches(d.Repositories)
}

// Destination returns the destination of a name.
func (s *Server) Destination(name string) (serverconfig.Destination, bool) {
	i := slices.IndexFunc(s.File.Destinations, func(d serverconfig.Destination) bool { return d.Name == name })
	if i < 0 {
		return serverconfig.Destination{}, false
	}
	return s.File.Destinations[i], true
}
