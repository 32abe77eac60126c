package api

import (
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/drift"
	"promoter/internal/store"
	"promoter/internal/view"
)

// Status is the state of the service.
type Status struct {
	Schema       int             `json:"schema"`
	At           time.Time       `json:"at"` // by the clock of the service
	Repositories []Repository    `json:"repositories"`
	Deliveries   []view.Delivery `json:"deliveries"` // newest first
	Schedules    []Schedule      `json:"schedules"`
	Backoffs     []Backoff       `json:"backoffs"`  // of the process that answers
	Receivers    []Receiver      `json:"receivers"` // of reports about health
	// Notifications are the messages of each destination.
	Notifications []Notification `json:"notifications"`
	// Secrets are the files whose new content the answering process cannot use.
	Secrets []Secret `json:"secrets,omitempty"`
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
	// Drift is what no promotion brought or will change, as the last reconciliation found it.
	Drift []drift.Drift `json:"drift,omitempty"`
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

// Secret is a file of a secret that was replaced by one that cannot be used. The secret before
// stays in use.
type Secret struct {
	File   string `json:"file"`
	Use    string `json:"use,omitempty"` // empty: the file cannot be read
	Reason string `json:"reason"`
}

// Receiver is a receiver of reports about health.
type Receiver struct {
	Receiver     string    `json:"receiver"`
	Kind         string    `json:"kind,omitempty"` // empty: it is not in the server file
	Repositories []string  `json:"repositories"`   // HOST/NAME, whose config names it
	ReportedAt   time.Time `json:"reportedAt,omitzero"`
	Next         time.Time `json:"next,omitzero"`     // when its Argo CD is polled next
	Failing      string    `json:"failing,omitempty"` // why the last poll is retried
	SetUp        string    `json:"setUp,omitempty"`   // what is missing; empty: nothing
}

// Notification is the messages about promotions at one destination, as the store counts them.
type Notification = store.NotificationCounts

func (a *API) status(c echo.Context) error {
	status, err := a.Admin.Status(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, status.Within(principalOf(c)))
}

// Within returns what a principal may read. What does not belong to one repository is for
// those that may read all of them.
func (s Status) Within(p access.Principal) Status {
	if !p.Restricted() {
		return s
	}
	s.Deliveries = []view.Delivery{}
	s.Backoffs = []Backoff{}
	s.Schedules = []Schedule{}
	s.Receivers = []Receiver{}
	s.Notifications = []Notification{}
	s.Secrets = nil
	s.Repositories = slices.DeleteFunc(slices.Clone(s.Repositories), func(r Repository) bool {
		return !p.May(access.Read, access.Target{Repository: r.Name})
	})
	for i := range s.Repositories {
		s.Repositories[i] = s.Repositories[i].within(p)
	}
	return s
}

// hiddenReason replaces the reasons of failures, which name what failed.
const hiddenReason = "the reason is shown to those who may read all of the repository"

// within returns what a principal may read of a repository. What is about the repository as a whole
// may be about any of its environments and applications.
func (r Repository) within(p access.Principal) Repository {
	partial := !p.MayAll(access.Read, r.Name)
	r.Drift = slices.DeleteFunc(slices.Clone(r.Drift), func(d drift.Drift) bool {
		return !p.MayRead(r.Name, d.Environment, d.Application) || partial && d.Environment == ""
	})
	if partial && r.Failure != "" {
		r.Failure = hiddenReason
	}
	if partial && r.LastError != "" {
		r.LastError = hiddenReason
	}
	return r
}
