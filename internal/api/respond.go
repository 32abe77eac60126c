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

// respond answers with a value as JSON and its ETag: a client that has it already gets 304.
// The value must not contain the time of the request.
func respond(c echo.Context, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	header := c.Response().Header()
	header.Set("ETag", tag)
	header.Set(echo.HeaderCacheControl, "private, no-cache") // a cache asks each time
	known := strings.Split(c.Request().Header.Get("If-None-Match"), ",")
	if slices.ContainsFunc(known, func(one string) bool { return strings.TrimPrefix(strings.TrimSpace(one), "W/") == tag }) {
		return c.NoContent(http.StatusNotModified)
	}
	return c.JSONBlob(http.StatusOK, append(body, '\n'))
}
