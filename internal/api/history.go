package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/fault"
	"promoter/internal/schedule"
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
	Since       time.Time    `json:"since,omitzero"`
	Repository  string       `json:"repository"` // HOST/NAME at that time
	Key         string       `json:"key"`        // a rename does not change it
	Environment string       `json:"environment"`
	Application string       `json:"application"`
	Action      string       `json:"action"`
	Promotion   string       `json:"promotion,omitempty"`
	Snapshot    string       `json:"snapshot,omitempty"`
	Versions    []Version    `json:"versions"`
	Commit      string       `json:"commit,omitempty"`
	PullRequest *PullRequest `json:"pullRequest,omitempty"`
	Reason      *Reason      `json:"reason,omitempty"`
	By          string       `json:"by,omitempty"` // who decided or committed
	RequestedBy string       `json:"requestedBy,omitempty"`
	// RequestReason is why, in the words of the user.
	RequestReason string   `json:"requestReason,omitempty"`
	Bypassed      []string `json:"bypassed,omitempty"` // the conditions and gates that the request bypassed
	ApprovedBy    []string `json:"approvedBy,omitempty"`
	// Unproven are the parts of these, "request" and "approval", that only the trailers of a
	// commit claim which any user who can push could have written.
	Unproven []string            `json:"unproven,omitempty"`
	Delivery *TriggeringDelivery `json:"delivery,omitempty"`
}

// Version is the version that a component changed to, and the one that it had before if
// that is known.
type Version struct {
	Component  string `json:"component"`
	Repository string `json:"repository,omitempty"`
	Tag        string `json:"tag,omitempty"`
	Digest     string `json:"digest,omitempty"`
	FromTag    string `json:"fromTag,omitempty"`
	FromDigest string `json:"fromDigest,omitempty"`
	Revision   string `json:"revision,omitempty"` // commit of the source, as the image claims
}

// PullRequest is one by its number.
type PullRequest struct {
	Number int    `json:"number"`
	URL    string `json:"url,omitempty"`
}

// Reason is why it happened: a rule for programs, a message for users.
type Reason struct {
	Rule    string `json:"rule,omitempty"`
	Message string `json:"message"`
}

// TriggeringDelivery is the webhook that triggered an event.
type TriggeringDelivery struct {
	Receiver string `json:"receiver"`
	ID       string `json:"id"`
}

// Limits of a history request.
const (
	MaxEvents     = 1000
	defaultEvents = 100
	maxParameter  = 500 // bytes
)

func (a *API) history(c echo.Context) error {
	query, err := a.historyQuery(c)
	if err != nil {
		return err
	}
	history, err := a.Admin.History(c.Request().Context(), query)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, history.Within(principalOf(c)))
}

// Within returns what a principal may read: a page of a restricted one may have fewer events
// than its limit.
func (h History) Within(p access.Principal) History {
	h.Events = slices.DeleteFunc(h.Events, func(e Event) bool {
		return !p.May(access.Read, access.Target{Repository: e.Repository, Environment: e.Environment, Application: e.Application})
	})
	return h
}

// historyQuery parses the parameters. Unknown or invalid ones are errors: without them,
// the response would contain more than was requested.
func (a *API) historyQuery(c echo.Context) (query HistoryQuery, err error) {
	query.Limit = defaultEvents
	into := map[string]*string{
		"repository": &query.Repository, "environment": &query.Environment, "application": &query.Application,
		"component": &query.Component, "after": &query.After,
	}
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return query, fault.New(fault.Invalid, "the parameters cannot be read: %w", err)
	}
	for name, given := range values {
		if len(given) != 1 || len(given[0]) > maxParameter {
			return query, fault.New(fault.Invalid, "the parameter %.50q is given %d times, or is too long", name, len(given))
		}
		switch text, known := into[name]; {
		case known:
			*text = given[0]
		case name == "since":
			query.Since, err = Since(given[0], a.Now())
		case name == "limit":
			query.Limit, err = parseLimit(given[0])
		default:
			err = fault.New(fault.Invalid, "%.50q is not a parameter: use repository, environment, application, component, since, limit, or after", name)
		}
		if err != nil {
			return query, err
		}
	}
	return query, nil
}

func parseLimit(text string) (int, error) {
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > MaxEvents {
		return 0, fault.New(fault.Invalid, "limit must be between 1 and %d", MaxEvents)
	}
	return limit, nil
}

// Since parses a time, or a duration before now, as in 7d.
func Since(text string, now time.Time) (time.Time, error) { return timeOrAge("since", text, now) }

// timeOrAge parses a parameter that is a time, or a duration before now.
func timeOrAge(name, text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	ago, err := schedule.ParseDuration(text)
	if err != nil {
		return time.Time{}, fault.New(fault.Invalid, "%s must be a duration, as in 7d, or a time, as in 2026-01-31T00:00:00Z", name)
	}
	return now.Add(-ago), nil
}
