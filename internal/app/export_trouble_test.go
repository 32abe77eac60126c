package app

import (
	"context"

	"promoter/internal/database"
)

// ServeOn is Serve on a database that the test holds too.
func (s *Server) ServeOn(ctx context.Context, db *database.DB, options ServeOptions) error {
	svc, err := s.service(ctx, db, options)
	if err != nil {
		return err
	}
	defer func() { _ = svc.rounds.close() }()
	return svc.run(ctx)
}
