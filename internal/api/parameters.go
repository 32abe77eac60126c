package api

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/fault"
	"promoter/internal/schedule"
)

// Limits of parameters.
const (
	// MaxEvents is how many entries a page may have.
	MaxEvents    = 1000
	defaultPage  = 100 // entries
	maxParameter = 500 // bytes
)

// Parameters returns the parameters of a URL. Unknown or repeated ones are errors: without
// them, the response would be about something else than what was requested.
func Parameters(c echo.Context, names ...string) (map[string]string, error) {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the parameters cannot be read: %w", err)
	}
	given := map[string]string{}
	for name, texts := range values {
		switch {
		case len(texts) != 1 || len(texts[0]) > maxParameter:
			return nil, fault.New(fault.Invalid, "the parameter %.50q is given %d times, or is too long", name, len(texts))
		case !slices.Contains(names, name):
			return nil, fault.New(fault.Invalid, "%.50q is not a parameter: use %s", name, strings.Join(names, ", "))
		}
		given[name] = texts[0]
	}
	return given, nil
}

// PathWith returns a path with the parameters that are not empty.
func PathWith(path string, parameters map[string]string) string {
	values := url.Values{}
	for name, value := range parameters {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// PathParameter returns a parameter of the path of a route, such as the name of an application.
func PathParameter(c echo.Context, name string) (string, error) {
	text := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return text, nil
	}
	// The router matched the path as it was sent.
	decoded, err := url.PathUnescape(text)
	if err != nil {
		return "", fault.New(fault.Invalid, "the %s in the path cannot be read: %w", name, err)
	}
	return decoded, nil
}

// limitOf returns how many entries a page is to have.
func limitOf(given map[string]string) (int, error) {
	text, set := given["limit"]
	if !set {
		return defaultPage, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > MaxEvents {
		return 0, fault.New(fault.Invalid, "limit must be between 1 and %d", MaxEvents)
	}
	return limit, nil
}

// Since parses a time, or a duration before now, as in 7d.
func Since(text string, now time.Time) (time.Time, error) {
	return timeOf(map[string]string{"since": text}, "since", now)
}

// timeOf parses a parameter that is a time, or a duration before now; zero: it is not given.
func timeOf(given map[string]string, name string, now time.Time) (time.Time, error) {
	text, set := given[name]
	if !set {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	ago, err := schedule.ParseDuration(text)
	if err != nil {
		return time.Time{}, fault.New(fault.Invalid, "%s must be a duration, as in 7d, or a time, as in 2026-01-31T00:00:00Z", name)
	}
	return now.Add(-ago), nil
}
