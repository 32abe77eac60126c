package api

import (
	"github.com/labstack/echo/v4"
)

// where finds versions by a tag, a digest, an image, or a commit.
func (a *API) where(c echo.Context) error {
	given, err := Parameters(c, "version")
	if err != nil {
		return err
	}
	found, err := a.View.Where(c.Request().Context(), principalOf(c), given["version"])
	if err != nil {
		return err
	}
	return respond(c, found)
}
