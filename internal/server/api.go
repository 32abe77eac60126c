package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/drift"
	"promoter/internal/fault"
)

// AdminAPI answers the commands of the service's operators.
type AdminAPI interface {
	Status(ctx context.Context) (Status, error)
	History(ctx context.Context, query HistoryQuery) (History, error)
	Replay(ctx context.Context, request Replay) (Replayed, error)
}

// Schema is the version of the JSON of the API. It increases with incompatible changes.
const Schema = 1

// Status is the state of the service.
type Status struct {
	Schema       int          `json:"schema"`
	At           time.Time    `json:"at"` // by the clock of the service
	Repositories []Repository `json:"repositories"`
	Deliveries   []Delivery   `json:"deliveries"` // newest first
	Schedules    []Schedule   `json:"schedules"`
	Backoffs     []Backoff    `json:"backoffs"` // of the process that answers
}

// RepositoryState is the state of a repository queue.
type RepositoryState string

// The states of a repository queue.
const (
	StateIdle    RepositoryState = "idle"
	StateWaiting RepositoryState = "waiting" // it was triggered
	StateRunning RepositoryState = "running"
	StateFailing RepositoryState = "failing" // the last reconciliation, or a part of it, failed
)

// Repository is the state of one repository. Unknown times are omitted.
type Repository struct {
	Name         string          `json:"repository"` // HOST/NAME; the key if it was never reconciled
	Key          string          `json:"key"`        // empty if it could never be opened
	Forge        string          `json:"forge,omitempty"`
	State        RepositoryState `json:"state"`
	ReconciledAt time.Time       `json:"reconciledAt,omitzero"` // end of the last reconciliation
	Failure      string          `json:"failure,omitempty"`     // why that failed, or a part of it
	WaitingSince time.Time       `json:"waitingSince,omitzero"` // first trigger that no successful run has read
	NextRun      time.Time       `json:"nextRun,omitzero"`      // without a trigger
	Attempts     int             `json:"attempts,omitempty"`    // reconciliations that failed since the last successful one
	LastError    string          `json:"lastError,omitempty"`   // of the last run, if it failed
	FailedAt     time.Time       `json:"failedAt,omitzero"`
	Crashes      int             `json:"crashes,omitempty"` // processes that died during its reconciliation since the last successful one
	// Drift is what no promotion brought or will change, as the answering process knows it.
	Drift []drift.Drift `json:"drift,omitempty"`
}

// Delivery is a stored webhook.
type Delivery struct {
	Receiver   string    `json:"receiver"`
	ID         string    `json:"id"`
	EventType  string    `json:"eventType"`
	ReceivedAt time.Time `json:"receivedAt"`
	SeenAt     time.Time `json:"seenAt"` // last time
	Times      int       `json:"times"`
}

// Schedule is a schedule that reads tags. Unknown times are omitted.
type Schedule struct {
	Schedule     string    `json:"schedule"`         // poll, or a cron expression
	Repositories int       `json:"repositories"`     // that use it
	Last         time.Time `json:"last,omitzero"`    // when it last fired
	Next         time.Time `json:"next,omitzero"`    // when it fires next
	Failing      string    `json:"failing,omitzero"` // why the last time is retried
}

// Backoff is a host that receives no requests from the answering process until a time,
// or none with one credential.
type Backoff struct {
	Peer       string    `json:"peer"` // forge, registry, git, or machine
	Host       string    `json:"host"`
	Credential string    `json:"credential,omitempty"` // of a forge; empty: all
	Until      time.Time `json:"until"`
	Reason     string    `json:"reason"`
}

// Replay requests that a stored delivery is accepted again.
type Replay struct {
	ID       string `json:"id"`
	Receiver string `json:"receiver"` // empty: any
	DryRun   bool   `json:"dryRun"`   // only return what it means
}

// Replayed is what a delivery means now.
type Replayed struct {
	Schema       int      `json:"schema"`
	Receiver     string   `json:"receiver"`
	ID           string   `json:"id"`
	EventType    string   `json:"eventType"`
	Events       []string `json:"events"`
	Ignored      string   `json:"ignored,omitempty"` // why there are no events
	Repositories []string `json:"repositories"`      // the keys of those that it triggers
}

var errToken = errors.New("a wrong or missing token")

// requireToken refuses requests without the token.
func (s *Server) requireToken(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		token, ok := strings.CutPrefix(c.Request().Header.Get(echo.HeaderAuthorization), "Bearer ")
		if !equal(token, s.Token.Reveal()) || !ok {
			return fault.Wrap(fault.Unauthorized, errToken)
		}
		c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
		return next(c)
	}
}

func (s *Server) status(c echo.Context) error {
	status, err := s.Admin.Status(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, status)
}

// maxAPIRequest limits the body of a request, in bytes.
const maxAPIRequest = 64 << 10

func (s *Server) replay(c echo.Context) error {
	var request Replay
	body := json.NewDecoder(http.MaxBytesReader(c.Response(), c.Request().Body, maxAPIRequest))
	if err := body.Decode(&request); err != nil || request.ID == "" {
		return fault.New(fault.Invalid, "the request names no delivery")
	}
	replayed, err := s.Admin.Replay(c.Request().Context(), request)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, replayed)
}
