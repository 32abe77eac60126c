package api

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/store"
	"promoter/internal/view"
)

// HistoryQuery selects events. Empty fields do not restrict.
type HistoryQuery struct {
	Repository  string // its name, HOST/NAME, or its key
	Environment string
	Application string
	Component   string
	Since       time.Time
	Limit       int    // at most MaxEvents
	After       string // Next of the previous page
	// Readable is what the principal may read; nil: everything.
	Readable store.Readable
}

// History is a page of events, newest first.
type History struct {
	Schema int       `json:"schema"`
	At     time.Time `json:"at"` // by the clock of the service
	Events []Event   `json:"events"`
	Next   string    `json:"next,omitempty"` // selects the next page; empty: there is none
}

// Event is one thing that promoter did or observed. Unknown fields are omitted.
type Event struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
	// Since is when that began which the event ended or caused: the receipt of the webhook that
	// led to an action; of a failure since when it was unhealthy.
	Since       time.Time         `json:"since,omitzero"`
	Repository  string            `json:"repository"` // HOST/NAME at that time
	Key         string            `json:"key"`        // a rename does not change it
	Environment string            `json:"environment"`
	Application string            `json:"application"`
	Action      string            `json:"action"`
	Promotion   string            `json:"promotion,omitempty"`
	Snapshot    string            `json:"snapshot,omitempty"`
	Versions    []Version         `json:"versions"`
	Commit      string            `json:"commit,omitempty"`
	PullRequest *view.PullRequest `json:"pullRequest,omitempty"`
	Reason      *view.Reason      `json:"reason,omitempty"`
	By          string            `json:"by,omitempty"` // who decided or committed
	RequestedBy string            `json:"requestedBy,omitempty"`
	// RequestReason is why, in the words of the user.
	RequestReason string   `json:"requestReason,omitempty"`
	Bypassed      []string `json:"bypassed,omitempty"` // the conditions and gates that the request bypassed
	ApprovedBy    []string `json:"approvedBy,omitempty"`
	// Unproven are the parts of these, "request" and "approval", that only the trailers of a
	// commit claim which any user who can push could have written.
	Unproven []string           `json:"unproven,omitempty"`
	Delivery *store.DeliveryRef `json:"delivery,omitempty"` // the webhook that triggered it
}

// Version is the version that a component changed to, as the store has it.
type Version = store.EventVersion

func (a *API) history(c echo.Context) error {
	given, err := Parameters(c, "repository", "environment", "application", "component", "since", "limit", "after")
	if err != nil {
		return err
	}
	query, err := HistoryQueryOf(given, principalOf(c), a.Now())
	if err != nil {
		return err
	}
	if query.Limit, err = limitOf(given); err != nil {
		return err
	}
	history, err := a.Admin.History(c.Request().Context(), query)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, history)
}

// HistoryQueryOf returns what parameters select of what a principal may read, without a limit.
func HistoryQueryOf(given map[string]string, p access.Principal, now time.Time) (query HistoryQuery, err error) {
	query = HistoryQuery{
		Repository: given["repository"], Environment: given["environment"], Application: given["application"],
		Component: given["component"], After: given["after"], Readable: p.ReadFilter(),
	}
	query.Since, err = timeOf(given, "since", now)
	return query, err
}
