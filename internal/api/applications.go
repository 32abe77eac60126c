package api

import (
	"slices"

	"github.com/labstack/echo/v4"

	"promoter/internal/fault"
	"promoter/internal/view"
)

// applications lists applications with what is in each of their environments.
func (a *API) applications(c echo.Context) error {
	given, err := Parameters(c, "repository", "application", "environment", "status", "search", "limit", "after")
	if err != nil {
		return err
	}
	query := view.ApplicationsQuery{
		Repository: given["repository"], Environment: given["environment"], Application: given["application"],
		Status: view.Status(given["status"]), Search: given["search"], After: given["after"],
	}
	if query.Status != "" && !slices.Contains(view.Statuses(), query.Status) {
		return fault.New(fault.Invalid, "%.50q is not a status: use %s", query.Status, fault.List(view.Statuses()))
	}
	if query.Limit, err = limitOf(given); err != nil {
		return err
	}
	list, err := a.View.Applications(c.Request().Context(), principalOf(c), query)
	return respond(c, list, err)
}

func (a *API) application(c echo.Context) error {
	given, err := Parameters(c, "repository")
	if err != nil {
		return err
	}
	name, err := PathParameter(c, "application")
	if err != nil {
		return err
	}
	found, err := a.View.Application(c.Request().Context(), principalOf(c), given["repository"], name)
	return respond(c, found, err)
}

// where finds versions by a tag, a digest, an image, or a commit.
func (a *API) where(c echo.Context) error {
	given, err := Parameters(c, "version")
	if err != nil {
		return err
	}
	found, err := a.View.Where(c.Request().Context(), principalOf(c), given["version"])
	return respond(c, found, err)
}
