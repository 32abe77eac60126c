package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"promoter/internal/fault"
)

// respond answers with a value as JSON, as Blob does, or with the error of reading it.
func respond(c echo.Context, value any, failed error) error {
	if failed != nil {
		return failed
	}
	body, err := json.Marshal(value)
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	const revalidate = "private, no-cache" // a cache asks each time
	return Blob(c, echo.MIMEApplicationJSON, revalidate, append(body, '\n'))
}

// Blob answers with a body and its ETag: a client that has it already gets 304. The body must not
// contain the time of the request.
func Blob(c echo.Context, contentType, cacheControl string, body []byte) error {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	header := c.Response().Header()
	header.Set("ETag", tag)
	header.Set(echo.HeaderCacheControl, cacheControl)
	known := strings.Split(c.Request().Header.Get("If-None-Match"), ",")
	if slices.ContainsFunc(known, func(one string) bool { return strings.TrimPrefix(strings.TrimSpace(one), "W/") == tag }) {
		return c.NoContent(http.StatusNotModified)
	}
	return c.Blob(http.StatusOK, contentType, body)
}
