package server

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// Refusals are told in the log a few at once and then one in a while, so that nobody
// fills a disk with them. The measure is one for all names, known or not: it tells
// nobody which there are. The metrics count all.
const (
	refusalsAtOnce = 20
	refusalEvery   = 10 * time.Second
)

// unknownReceiver stands in the log for every name that is none, as in the metrics.
const unknownReceiver = "(unknown)"

// refused writes the line of a webhook that its sender has to send otherwise. One that
// failed in here has a line already.
func (s *Server) refused(c echo.Context, to *receiver, at time.Time, err error) {
	status := c.Response().Status
	if status >= http.StatusInternalServerError || !s.refusals.AllowN(at, 1) {
		return
	}
	name := to.name
	if name == "" {
		name = unknownReceiver
	}
	s.Log.WarnContext(c.Request().Context(), "a webhook was refused", slog.String("receiver", name),
		slog.String("request", requestID(c)), slog.Int("status", status), slog.String("error", wordsOf(err, status)))
}

// ignored writes the line of a delivery that means no work and is not kept.
func (s *Server) ignored(r *http.Request, taken Accepted) {
	s.Log.InfoContext(r.Context(), "delivery", slog.String("receiver", taken.Receiver), slog.String("delivery", taken.ID),
		slog.String("event", taken.EventType), slog.Int("hints", 0), slog.String("ignored", taken.Ignored))
}
