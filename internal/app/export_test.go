package app

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"promoter/internal/database"
	"promoter/internal/server"
	"promoter/internal/serverfile"
)

// ServeOn is Serve with a database that the test opened too.
func ServeOn(ctx context.Context, s *serverfile.Server, db *database.DB, options ServeOptions) error {
	return assemble(ctx, s, db, options, listenAndWork)
}

// Routes returns the routes of the service with a server file.
func Routes(ctx context.Context, s *serverfile.Server) (routes []server.Route, err error) {
	if err := os.MkdirAll(s.File.Data, 0o700); err != nil {
		return nil, err
	}
	db, err := openDatabase(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	err = assemble(ctx, s, db, ServeOptions{Log: slog.New(slog.DiscardHandler)}, func(_ context.Context, parts assembled) error {
		routes = parts.web.Routes()
		return nil
	})
	return routes, errors.Join(err, db.Close())
}

// ReadRequests returns requests for each route that reads, as TestRoutes_hiddenIsAsAbsent sends them.
func ReadRequests() map[string][]string {
	all := map[string][]string{}
	for route, row := range routeRows {
		if row.same == "" && !row.post {
			all[route] = row.requests
		}
	}
	return all
}
