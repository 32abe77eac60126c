package app

import (
	"time"

	"promoter/internal/database"
	"promoter/internal/queue"
)

// SetPace changes the distance between two writes to a forge.
func (s *Server) SetPace(pace time.Duration) { s.pace = pace }

// SetNow changes the clock.
func (s *Server) SetNow(now func() time.Time) { s.now = now }

// SetQueue changes how the queue of a service works.
func (s *Server) SetQueue(o queue.Options) { s.work = o }

// SetAround lets somebody stand around each commit of a service.
func (s *Server) SetAround(around database.CommitHook) { s.around = around }
