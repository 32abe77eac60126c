package server

import (
	"crypto/rand"
	"log/slog"

	"github.com/labstack/echo/v4"
)

// requestIDHeader names a request in our log and in our answer. What a client sends
// in it is not taken over.
const requestIDHeader = "X-Request-Id"

// identify gives every request an id.
func (s *Server) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set(requestIDHeader, rand.Text())
		return next(c)
	}
}

func requestID(c echo.Context) string { return c.Response().Header().Get(requestIDHeader) }

// record writes one line for each request. The route stands for the path, which
// may hold a secret.
func (s *Server) record(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		begin := s.Now()
		if err := s.survived(c, func() error { return next(c) }); err != nil {
			s.fail(err, c)
		}
		s.Log.DebugContext(c.Request().Context(), "request",
			slog.String("request", requestID(c)), slog.String("method", c.Request().Method), slog.String("route", c.Path()),
			slog.Int("status", c.Response().Status), slog.Duration("took", s.Now().Sub(begin)))
		return nil
	}
}
