package web

import (
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/api"
	"promoter/internal/fault"
	"promoter/internal/view"
)

// overviewBody is the matrix of applications and environments.
type overviewBody struct {
	Query        view.ApplicationsQuery
	Statuses     []statusCount
	Environments []string
	Columns      int // the class of the width
	Total        int
	Chunks       [][]matrixRow
	Next         string // URL of the next page; empty: there is none
}

// statusCount links to the applications with a target in a status.
type statusCount struct {
	Status   view.Status
	Count    int
	URL      string
	Selected bool // the URL removes the filter
}

type matrixRow struct {
	view.ApplicationRow
	URL   string
	Cells []matrixCell // one for each environment
}

// matrixCell is an environment of an application. Without a status, the application is not in it.
type matrixCell struct {
	view.TargetRow
	Now time.Time
}

// Limits of the matrix.
const (
	maxRows = 2000 // of a page
	// chunk is the number of rows of a table. Browsers lay a table out as a whole, and skip
	// the tables that are not visible.
	chunk = 50
	// maxColumns is the number of classes for the width in style.css.
	maxColumns = 30
)

// overview shows what is in each environment of each application.
func (p *pages) overview(c echo.Context) error {
	given, err := api.Parameters(c, "repository", "environment", "status", "search", "after")
	if err != nil {
		return err
	}
	query := view.ApplicationsQuery{
		Repository: given["repository"], Environment: given["environment"], Status: view.Status(given["status"]),
		Search: given["search"], After: given["after"], Limit: maxRows,
	}
	if query.Status != "" && !slices.Contains(view.Statuses(), query.Status) {
		return fault.New(fault.Invalid, "%.50q is not a status", query.Status)
	}
	list, err := p.View.Applications(c.Request().Context(), principalOf(c), query)
	if err != nil {
		return err
	}
	return p.write(c, http.StatusOK, "overview", page{Title: "Overview", Live: true, Body: matrixOf(query, list, p.Now())})
}

func matrixOf(query view.ApplicationsQuery, list view.Applications, now time.Time) overviewBody {
	body := overviewBody{
		Query: query, Environments: list.Environments, Total: list.Total,
		Columns: min(max(len(list.Environments), 1), maxColumns),
	}
	for _, status := range view.Statuses() {
		selected := query
		selected.Status, selected.After = status, ""
		if query.Status == status {
			selected.Status = ""
		}
		body.Statuses = append(body.Statuses, statusCount{status, list.Statuses[status], overviewURL(selected), query.Status == status})
	}
	if list.Next != "" {
		following := query
		following.After = list.Next
		body.Next = overviewURL(following)
	}
	positions := make(map[string]int, len(list.Environments))
	for i, environment := range list.Environments {
		positions[environment] = i
	}
	rows := make([]matrixRow, 0, len(list.Applications))
	for _, one := range list.Applications {
		row := matrixRow{
			ApplicationRow: one, URL: applicationURL(one.Repository, one.Application),
			Cells: make([]matrixCell, len(list.Environments)),
		}
		for _, target := range one.Targets {
			row.Cells[positions[target.Environment]] = matrixCell{target, now}
		}
		rows = append(rows, row)
	}
	body.Chunks = slices.Collect(slices.Chunk(rows, chunk))
	return body
}

// overviewURL returns the URL of the overview with a query.
func overviewURL(query view.ApplicationsQuery) string {
	return api.PathWith("/", map[string]string{
		"repository": query.Repository, "environment": query.Environment, "status": string(query.Status),
		"search": query.Search, "after": query.After,
	})
}
