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

// statusOf returns the HTTP status of an error.
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

// retryLater is how many seconds a sender should wait if the error has no time.
const retryLater = 5

// respondError answers with an error. Details of internal errors are only logged.
func (s *Server) respondError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	status := statusOf(err)
	if _, isHTTP := errors.AsType[*echo.HTTPError](err); !isHTTP && status >= http.StatusInternalServerError {
		s.Log.ErrorContext(c.Request().Context(), "request failed", slog.String("request", requestID(c)), slog.String("error", err.Error()))
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		seconds := retryLater
		if at, known := fault.RetryAt(err); known {
			seconds = max(1, int(math.Ceil(at.Sub(s.Now()).Seconds())))
		}
		c.Response().Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	_ = c.JSON(status, map[string]string{"error": publicMessage(err, status)}) // the client may have gone
}

// publicMessage returns what anyone may read of an error.
func publicMessage(err error, status int) string {
	if known, isHTTP := errors.AsType[*echo.HTTPError](err); isHTTP {
		if text, ok := known.Message.(string); ok {
			return text
		}
	} else if status < http.StatusInternalServerError {
		return err.Error()
	}
	return http.StatusText(status)
}
