package api

import (
	"cmp"
	"context"
	"slices"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/view"
)

// lists adds the routes of the lists of the view. Each has pages and an ETag.
func (a *API) lists(group *echo.Group) {
	read, target := requires(access.Read), []string{"repository", "environment", "application"}
	group.GET("/repositories", a.repositories, read)
	group.GET("/environments", list(a.View.Environments, target...), read)
	group.GET("/promotions", a.promotions, read)
	group.GET("/decisions", list(a.View.Decisions, target...), read)
	group.GET("/evidence", list(a.View.Evidence, target...), read)
	group.GET("/deliveries", list(a.View.Deliveries), read)
}

// list answers with a page of a list. The names are the parameters that select its items.
func list[T any](
	read func(context.Context, access.Principal, view.ListQuery) (view.Page[T], error), names ...string,
) echo.HandlerFunc {
	return func(c echo.Context) error {
		query, _, err := listQuery(c, names...)
		if err != nil {
			return err
		}
		page, err := read(c.Request().Context(), principalOf(c), query)
		return respond(c, page, err)
	}
}

// listQuery parses the parameters of a list, and returns them also as they were given.
func listQuery(c echo.Context, names ...string) (query view.ListQuery, given map[string]string, err error) {
	given, err = Parameters(c, append(slices.Clone(names), "limit", "after")...)
	if err != nil {
		return query, nil, err
	}
	query = view.ListQuery{
		Repository: given["repository"], Environment: given["environment"], Application: given["application"], After: given["after"],
	}
	query.Limit, err = limitOf(given)
	return query, given, err
}

// repositories lists repositories by name, each with the state of its queue.
func (a *API) repositories(c echo.Context) error {
	query, _, err := listQuery(c, "repository")
	if err != nil {
		return err
	}
	status, err := a.Admin.Status(c.Request().Context())
	if err != nil {
		return err
	}
	found := slices.DeleteFunc(slices.Clone(status.Within(principalOf(c)).Repositories), func(r Repository) bool {
		return query.Repository != "" && !identity.RepositoryKey(r.Key).IsNamed(r.Name, query.Repository)
	})
	slices.SortFunc(found, func(a, b Repository) int { return cmp.Compare(a.Name, b.Name) })
	page, err := view.PageOf(found, query.After, query.Limit, 1, func(r Repository) []string { return []string{r.Name} })
	return respond(c, page, err)
}

// promotions lists the promotions of one state.
func (a *API) promotions(c echo.Context) error {
	query, given, err := listQuery(c, "repository", "environment", "application", "state")
	if err != nil {
		return err
	}
	state := view.PromotionState(cmp.Or(given["state"], string(view.PromotionOpen)))
	if !slices.Contains(view.PromotionStates(), state) {
		return fault.New(fault.Invalid, "%.50q is not a state of promotions: use open or landed", state)
	}
	page, err := a.View.Promotions(c.Request().Context(), principalOf(c), state, query)
	return respond(c, page, err)
}
