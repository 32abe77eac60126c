package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/labstack/echo/v4"

	"promoter/internal/fault"
)

// survived makes a panic the failure of its request alone. net/http would cut the
// connection, and tell of it among the lines of what strangers do.
func (s *Server) survived(c echo.Context, do func() error) (err error) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		if value == http.ErrAbortHandler { //nolint:errorlint // what was panicked with is no chain
			panic(value)
		}
		s.Log.ErrorContext(c.Request().Context(), "a request panicked", slog.String("request", requestID(c)), slog.String("route", c.Path()),
			slog.String("panic", fmt.Sprint(value)), slog.String("stack", string(debug.Stack())))
		err = fault.Defect(value)
	}()
	return do()
}
