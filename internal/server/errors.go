package server

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"promoter/internal/api"
)

// respondError answers with an error. Details of internal errors are only logged.
func (s *Server) respondError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	if _, isHTTP := errors.AsType[*echo.HTTPError](err); !isHTTP && api.StatusOf(err) >= http.StatusInternalServerError {
		s.Log.ErrorContext(c.Request().Context(), "request failed", slog.String("request", requestID(c)), slog.String("error", err.Error()))
	}
	api.Respond(c, err, s.Now())
}
