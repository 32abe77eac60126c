package server

import (
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"promoter/internal/fault"
)

// statusOf maps what may be done about an error to what HTTP calls it.
func statusOf(err error) int {
	if known, ok := errors.AsType[*echo.HTTPError](err); ok {
		return known.Code
	}
	switch fault.KindOf(err) {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusConflict
	case fault.Unauthorized:
		return http.StatusUnauthorized
	case fault.RateLimited:
		return http.StatusTooManyRequests
	case fault.Temporary:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// retryLater is how many seconds a sender should wait when nothing better is known.
const retryLater = 5

// fail answers an error. What went wrong in here is for the log and not for a
// stranger.
func (s *Server) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	status := statusOf(err)
	if _, isHTTP := errors.AsType[*echo.HTTPError](err); !isHTTP && status >= http.StatusInternalServerError {
		s.Log.ErrorContext(c.Request().Context(), "a request failed", slog.String("request", requestID(c)), slog.String("error", err.Error()))
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		c.Response().Header().Set("Retry-After", strconv.Itoa(s.retryAfter(err)))
	}
	_ = c.JSON(status, map[string]string{"error": wordsOf(err, status)}) // a client that went away wants no answer
}

// wordsOf is what a stranger may read of an error.
func wordsOf(err error, status int) string {
	if known, isHTTP := errors.AsType[*echo.HTTPError](err); isHTTP {
		if text, ok := known.Message.(string); ok {
			return text
		}
	} else if status < http.StatusInternalServerError {
		return err.Error()
	}
	return http.StatusText(status)
}

// retryAfter is in whole seconds, rounded up.
func (s *Server) retryAfter(err error) int {
	at, known := fault.RetryAt(err)
	if !known {
		return retryLater
	}
	return max(1, int(math.Ceil(at.Sub(s.Now()).Seconds())))
}
