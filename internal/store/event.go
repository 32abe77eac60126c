package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"promoter/internal/database"
)

// Event is one thing that promoter did or saw.
type Event struct {
	ID            string // set by the store
	At            time.Time
	Repository    string // its key
	Name          string // HOST/OWNER/NAME as it was then
	Environment   string
	Application   string
	Action        string
	Promotion     string // the id of the promotion; empty: not known, or none
	Snapshot      string // its id
	Versions      []EventVersion
	Commit        string
	Number        int     // of the pull request; 0: none
	URL           string  // of it
	Rule, Message string  // the reason
	User          string  // who decided or committed
	Trigger       Trigger // zero: not known
}

// EventVersion is the version of one component.
type EventVersion struct {
	Component  string `json:"component"`
	Repository string `json:"repository,omitempty"`
	Tag        string `json:"tag,omitempty"`
	Digest     string `json:"digest,omitempty"`
}

// Trigger is the webhook that brought something about.
type Trigger struct{ Receiver, Delivery string }

// The acts that are told apart by more than their time.
const (
	EventPushed    = "pushed"
	EventMerged    = "merged"
	EventLanded    = "landed" // by whoever, as Git or the forge says
	EventOpened    = "opened"
	EventRefreshed = "refreshed"
	EventClosed    = "closed"
)

// Identity says what makes an event one event. Whoever sees it again, in a second look, in
// another replica, or after the database was lost, gives it the same name. A landing is
// its commit, whether promoter made it or only saw it; a pull request is opened once, is
// refreshed once with each head, and a decision is its person and its time.
func (e Event) Identity() string {
	what := []string{e.Action, e.User, strconv.FormatInt(database.Micros(e.At), 10), strconv.Itoa(e.Number)}
	switch e.Action {
	case EventPushed, EventMerged, EventLanded:
		what = []string{EventLanded, e.Commit}
	case EventOpened:
		what = []string{e.Action, strconv.Itoa(e.Number)}
	case EventRefreshed, EventClosed:
		what = []string{e.Action, strconv.Itoa(e.Number), e.Commit}
	}
	name := append([]string{e.Repository, e.Environment, e.Application}, what...)
	sum := sha256.Sum256([]byte(strings.Join(name, "\n")))
	return hex.EncodeToString(sum[:12])
}
