package api

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/fault"
)

// Problem is the body of a response with an error.
// https://www.rfc-editor.org/rfc/rfc9457
type Problem struct {
	Type   string `json:"type"`   // a URI; about:blank: the status says everything
	Title  string `json:"title"`  // of the status
	Status int    `json:"status"` // as in the response
	Detail string `json:"detail"` // what is wrong with the request, for users
}

const problemType = "application/problem+json"

// StatusOf returns the HTTP status of an error.
func StatusOf(err error) int {
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

// Authenticated returns the error of a request that is authenticated: what is Unauthorized then is
// the principal, or promoter on a forge, and another token in the request changes nothing.
func Authenticated(err error) error {
	if fault.KindOf(err) == fault.Unauthorized {
		return Forbidden(err.Error())
	}
	return err
}

// Forbidden is the error of a principal that may not do what it requests.
func Forbidden(message string) error { return echo.NewHTTPError(http.StatusForbidden, message) }

// retryLater is how many seconds a client should wait if the error has no time.
const retryLater = 5

// Respond answers with an error.
func Respond(c echo.Context, err error, now time.Time) {
	status := StatusOf(err)
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		seconds := retryLater
		if at, known := fault.RetryAt(err); known {
			seconds = max(1, int(math.Ceil(at.Sub(now).Seconds())))
		}
		c.Response().Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	problem := Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: PublicMessage(err)}
	body, encodeErr := json.Marshal(problem)
	if encodeErr != nil {
		body = []byte("{}")
	}
	_ = c.Blob(status, problemType, append(body, '\n')) // the client may have gone
}

// PublicMessage returns what anyone may read of an error. Details of internal errors are for
// the log.
func PublicMessage(err error) string {
	status := StatusOf(err)
	if known, isHTTP := errors.AsType[*echo.HTTPError](err); isHTTP {
		if text, ok := known.Message.(string); ok {
			return text
		}
	} else if status < http.StatusInternalServerError {
		return err.Error()
	}
	return http.StatusText(status)
}
