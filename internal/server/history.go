package server

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/fault"
	"promoter/internal/schedule"
)

// HistoryQuery asks for a part of the history. What is empty narrows nothing.
type HistoryQuery struct {
	Repository  string // its name, HOST/NAME, or its key
	Environment string
	Application string
	Component   string
	Since       time.Time
	Limit       int    // at most MaxEvents
	After       string // Next of the answer before
}

// History is a page of what promoter did and saw, the newest first.
type History struct {
	Schema int       `json:"schema"`
	At     time.Time `json:"at"` // of the clock of whoever answers
	Events []Event   `json:"events"`
	Next   string    `json:"next,omitempty"` // asks for the next page; empty: there is none
}

// Event is one thing that promoter did or saw. What is not known is left out.
type Event struct {
	ID          string              `json:"id"`
	At          time.Time           `json:"at"`
	Repository  string              `json:"repository"` // HOST/NAME as it was then
	Key         string              `json:"key"`        // of the repository; a rename does not change it
	Environment string              `json:"environment"`
	Application string              `json:"application"`
	Action      string              `json:"act"`
	Promotion   string              `json:"promotion,omitempty"`
	Snapshot    string              `json:"snapshot,omitempty"`
	Versions    []Version           `json:"versions"`
	Commit      string              `json:"commit,omitempty"`
	PullRequest *PullRequest        `json:"pullRequest,omitempty"`
	Reason      *Reason             `json:"reason,omitempty"`
	By          string              `json:"by,omitempty"` // who decided or committed
	Delivery    *TriggeringDelivery `json:"delivery,omitempty"`
}

// Version is the version of one component.
type Version struct {
	Component  string `json:"component"`
	Repository string `json:"repository,omitempty"`
	Tag        string `json:"tag,omitempty"`
	Digest     string `json:"digest,omitempty"`
}

// PullRequest is one by its number.
type PullRequest struct {
	Number int    `json:"number"`
	URL    string `json:"url,omitempty"`
}

// Reason says why: the rule for programs, the words for people.
type Reason struct {
	Rule    string `json:"rule,omitempty"`
	Message string `json:"words"`
}

// TriggeringDelivery is the webhook that brought something about.
type TriggeringDelivery struct {
	Receiver string `json:"receiver"`
	ID       string `json:"id"`
}

// Bounds of a page of the history.
const (
	MaxEvents     = 1000
	defaultEvents = 100
	maxNarrowing  = 500 // bytes of each parameter
)

func (s *Server) history(c echo.Context) error {
	past, err := s.past(c)
	if err != nil {
		return err
	}
	history, err := s.Admin.History(c.Request().Context(), past)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, history)
}

// past reads the question. What is not known, or cannot be read, is refused: without it
// all would be told.
func (s *Server) past(c echo.Context) (past HistoryQuery, err error) {
	past.Limit = defaultEvents
	into := map[string]*string{
		"repository": &past.Repository, "environment": &past.Environment, "application": &past.Application,
		"component": &past.Component, "after": &past.After,
	}
	asked, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return past, fault.New(fault.Invalid, "the parameters cannot be read: %w", err)
	}
	for name, values := range asked {
		if len(values) != 1 || len(values[0]) > maxNarrowing {
			return past, fault.New(fault.Invalid, "%.50q stands there %d times, or is too long", name, len(values))
		}
		switch text, known := into[name]; {
		case known:
			*text = values[0]
		case name == "since":
			past.Since, err = Since(values[0], s.Now())
		case name == "limit":
			past.Limit, err = limitOf(values[0])
		default:
			err = fault.New(fault.Invalid, "%.50q is no parameter: write repository, environment, application, component, since, limit or after", name)
		}
		if err != nil {
			return past, err
		}
	}
	return past, nil
}

func limitOf(text string) (int, error) {
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > MaxEvents {
		return 0, fault.New(fault.Invalid, "limit is not 1 to %d", MaxEvents)
	}
	return limit, nil
}

// Since reads a time, or how long it is ago: 7d.
func Since(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	ago, err := schedule.ParseDuration(text)
	if err != nil {
		return time.Time{}, fault.New(fault.Invalid, "since is neither a duration, as in 7d, nor a time, as in 2026-01-31T00:00:00Z")
	}
	return now.Add(-ago), nil
}
