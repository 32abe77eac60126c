package web

import (
	"maps"
	"net/http"

	"github.com/labstack/echo/v4"

	"promoter/internal/api"
	"promoter/internal/image"
	"promoter/internal/promotion"
)

// eventsPerPage is the number of events on a page of the history.
const eventsPerPage = 100

// historyBody is a page of the history.
type historyBody struct {
	Query  api.HistoryQuery
	Since  string // as the user wrote it
	Events []eventRow
	Next   string // URL of the next page; empty: there is none
}

type eventRow struct {
	api.Event
	URL     string // of the application
	Changes []string
}

// history shows what happened.
func (p *pages) history(c echo.Context) error {
	given, err := api.Parameters(c, "repository", "environment", "application", "component", "since", "after")
	if err != nil {
		return err
	}
	maps.DeleteFunc(given, func(_, text string) bool { return text == "" }) // a field of the form that is empty
	query, err := api.HistoryQueryOf(given, principalOf(c), p.Now())
	if err != nil {
		return err
	}
	query.Limit = eventsPerPage
	found, err := p.Reader.History(c.Request().Context(), query)
	if err != nil {
		return err
	}
	body := historyBody{Query: query, Since: given["since"]}
	for _, event := range found.Events {
		body.Events = append(body.Events, eventRow{event, applicationURL(event.Repository, event.Application), changesOf(event.Versions)})
	}
	if found.Next != "" {
		given["after"] = found.Next
		body.Next = api.PathWith("/history", given)
	}
	return p.write(c, http.StatusOK, "history", page{Title: "History", Live: true, Body: body})
}

// changesOf describes what changed: "web 1.4 → 1.5".
func changesOf(versions []api.Version) []string {
	var texts []string
	for _, one := range versions {
		text := one.Component + " "
		if from := promotion.Label(image.Version{Tag: one.FromTag, Digest: one.FromDigest}); from != "" {
			text += from + " → "
		}
		texts = append(texts, text+promotion.Label(image.Version{Tag: one.Tag, Digest: one.Digest}))
	}
	return texts
}

// activity shows the work of the service.
func (p *pages) activity(c echo.Context) error {
	if _, err := api.Parameters(c); err != nil {
		return err
	}
	status, err := p.Reader.Status(c.Request().Context())
	if err != nil {
		return err
	}
	principal := principalOf(c)
	return p.write(c, http.StatusOK, "activity", page{
		Title: "Activity", Live: true, Body: activityBody{status.Within(principal), principal.Restricted()},
	})
}

type activityBody struct {
	api.Status
	Restricted bool // what does not belong to one repository is left out
}
