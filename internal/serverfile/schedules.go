package serverfile

import (
	serverconfig "promoter/internal/config/server"
	"promoter/internal/image"
	"promoter/internal/schedule"
)

// TagSchedule returns when the tags of an image are read: as its component says, or the
// first entry of the server file that covers the image and has a schedule. The zero
// schedule is that of the poll.
func (s *Server) TagSchedule(component schedule.Times, asked image.Repository) schedule.Times {
	times := component
	for _, entry := range s.File.Registries {
		if times.IsZero() && !entry.Poll.IsZero() && entry.Covers(asked) {
			times = entry.Poll
		}
	}
	return UnlessPolled(s.File, times)
}

// UnlessPolled returns the zero schedule for an interval that is not longer than that
// of the poll, since nothing is read more often than with the poll.
func UnlessPolled(file *serverconfig.Config, times schedule.Times) schedule.Times {
	if every := times.Every(); every > 0 && every <= file.Poll {
		return schedule.Times{}
	}
	return times
}
