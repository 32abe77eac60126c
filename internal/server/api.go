package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/fault"
)

// AdminAPI answers what the commands of people ask who run the service.
type AdminAPI interface {
	Status(ctx context.Context) (Status, error)
	History(ctx context.Context, past HistoryQuery) (History, error)
	Replay(ctx context.Context, what Replay) (Replayed, error)
}

// Schema is the number of the forms of the API. It goes up when a reader of the old
// ones would misread the new ones.
const Schema = 1

// Status is what the service knows of its work.
type Status struct {
	Schema       int          `json:"schema"`
	At           time.Time    `json:"at"` // of the service's clock
	Repositories []Repository `json:"lanes"`
	Deliveries   []Delivery   `json:"deliveries"` // the newest first
	Schedules    []Schedule   `json:"schedules"`
	Backoffs     []Backoff    `json:"pauses"` // of the process that answers
}

// RepositoryState is where a lane stands.
type RepositoryState string

// The states of lanes.
const (
	StateIdle    RepositoryState = "resting"
	StateWaiting RepositoryState = "waiting" // it was hinted at
	StateRunning RepositoryState = "running"
	StateFailing RepositoryState = "failing" // the last look failed; it is tried again
)

// Repository is the work of one repository. Times that are not known are left out.
type Repository struct {
	Name         string          `json:"repository"` // HOST/NAME; the key where it was never looked at
	Key          string          `json:"key"`
	Forge        string          `json:"forge,omitempty"`
	State        RepositoryState `json:"state"`
	ReconciledAt time.Time       `json:"lookedAt,omitzero"`   // the last time that a look ended
	Failure      string          `json:"failure,omitempty"`   // why that look failed, or a part of it
	WaitingSince time.Time       `json:"waiting,omitzero"`    // since the first hint that no good look has read
	NextRun      time.Time       `json:"next,omitzero"`       // the next look, if nobody hints
	Attempts     int             `json:"attempts,omitempty"`  // since the last look that did well
	LastError    string          `json:"lastError,omitempty"` // of the last run, when it failed
	FailedAt     time.Time       `json:"failedAt,omitzero"`
}

// Delivery is a webhook that was kept.
type Delivery struct {
	Receiver   string    `json:"receiver"`
	ID         string    `json:"id"`
	EventType  string    `json:"event"`
	ReceivedAt time.Time `json:"receivedAt"`
	SeenAt     time.Time `json:"seenAt"` // the last time
	Times      int       `json:"times"`
}

// Replay asks for a delivery to be played again.
type Replay struct {
	ID       string `json:"id"`
	Receiver string `json:"receiver"` // empty: whichever took it
	DryRun   bool   `json:"dryRun"`   // only say what it means
}

// Replayed is what a delivery means now.
type Replayed struct {
	Schema       int      `json:"schema"`
	Receiver     string   `json:"receiver"`
	ID           string   `json:"id"`
	EventType    string   `json:"event"`
	Events       []string `json:"hints"`
	Ignored      string   `json:"ignored,omitempty"` // why there are none
	Repositories []string `json:"lanes"`             // the keys of the repositories that are looked at
}

const bearer = "Bearer "

var errToken = errors.New("a wrong or missing token")

// shown lets those in who show the token. Hashes are compared, so that the time says
// nothing about its length either.
func (s *Server) shown(next echo.HandlerFunc) echo.HandlerFunc {
	want := sha256.Sum256([]byte(s.Token.Reveal()))
	return func(c echo.Context) error {
		token, ok := strings.CutPrefix(c.Request().Header.Get(echo.HeaderAuthorization), bearer)
		got := sha256.Sum256([]byte(token))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 || !ok {
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

// maxQuestion bounds what a command may ask, in bytes.
const maxQuestion = 64 << 10

func (s *Server) replay(c echo.Context) error {
	var what Replay
	body := json.NewDecoder(http.MaxBytesReader(c.Response(), c.Request().Body, maxQuestion))
	if err := body.Decode(&what); err != nil || what.ID == "" {
		return fault.New(fault.Invalid, "no delivery is named")
	}
	replayed, err := s.Admin.Replay(c.Request().Context(), what)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, replayed)
}
