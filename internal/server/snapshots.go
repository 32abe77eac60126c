package server

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"promoter/internal/api"
	"promoter/internal/fault"
	"promoter/internal/snapshot"
	"promoter/internal/webhook"
)

var errPoster = errors.New("a wrong or missing secret of a receiver that may post snapshots")

// postSnapshot accepts a snapshot with the secret of a receiver that may post snapshots. A token of
// the API is not accepted: receivers name for what they post.
func (s *Server) postSnapshot(c echo.Context) error {
	r, at := c.Request(), s.Now()
	from := s.sources.of(c.RealIP(), at)
	receiver, allowed := s.mayPost(r)
	if !allowed {
		return from.charge(at, fault.Wrap(fault.Unauthorized, errPoster))
	}
	content, err := readBody(r, at)
	if err != nil {
		return err
	}
	posted, err := snapshot.Parse(content)
	if err != nil {
		return fault.New(fault.Invalid, "the snapshot cannot be read: %w", err)
	}
	requested, err := s.request(c, receiver, posted)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, requested.Run)
	if requested.Repeated {
		return c.JSON(http.StatusOK, requested)
	}
	return c.JSON(http.StatusCreated, requested)
}

// mayPost returns the receiver that the credential of a request belongs to. All are tried, so
// that the time reveals nothing.
func (s *Server) mayPost(r *http.Request) (name string, allowed bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, one := range s.receivers {
		if one.Receiver.Posts() && one.Receiver.Authenticates(r.Context(), webhook.Request{Header: r.Header}) && !allowed {
			name, allowed = one.name, true
		}
	}
	return name, allowed
}

// request requests the promotion of a snapshot. Its parameters are those of the URL.
func (s *Server) request(c echo.Context, receiver string, posted snapshot.Snapshot) (api.Requested, error) {
	given, err := api.Parameters(c, "repository", "application")
	if err != nil {
		return api.Requested{}, err
	}
	return s.API.Snapshots.Post(c.Request().Context(), api.PostedSnapshot{
		Receiver: receiver, Repository: given["repository"], Application: given["application"], Snapshot: posted,
	})
}
