// Package notify sends messages about promotions to chat services, mailboxes, and webhooks.
//
// A Message is about one promotion: one snapshot of an application in an environment, with the
// events so far. Each service is one file with a Sender, which formats the message in the form of
// the service. Everything in a message is text from outside: a sender escapes it, so that it
// mentions no user and adds no link.
//
// The package decides neither who is notified nor when, and stores nothing. Sending is at least
// once: after a crash between sending and recording, a message is sent again, with the same ID.
package notify

import (
	"context"
	"net/url"
	"time"
)

// State is what an event reports about a promotion.
type State string

// The states, in the order in which a promotion has them.
const (
	Version  State = "version"  // a version is available that the target does not have
	Waiting  State = "waiting"  // the promotion waits for a condition, a gate, or a user
	Proposed State = "proposed" // a pull request is open
	Stuck    State = "stuck"    // it cannot land until a user changes something
	Landed   State = "landed"   // it was merged or pushed
	Healthy  State = "healthy"
	Failed   State = "failed"
	Reverted State = "reverted"
)

// States returns all states, in the order in which a promotion has them.
func States() []State {
	return []State{Version, Waiting, Proposed, Stuck, Landed, Healthy, Failed, Reverted}
}

// IsFinal reports whether a service that cannot update messages gets a message for the state even
// if it got one about the promotion before.
func (s State) IsFinal() bool {
	return s == Stuck || s == Landed || s == Healthy || s == Failed || s == Reverted
}

// Message is what is known about one promotion.
type Message struct {
	ID          string      `json:"id"`
	Repository  string      `json:"repository"` // HOST/OWNER/NAME
	Environment string      `json:"environment"`
	Application string      `json:"application"`
	Snapshot    string      `json:"snapshot"` // its ID
	Versions    []Change    `json:"versions"` // that change
	PullRequest PullRequest `json:"pullRequest,omitzero"`
	Page        string      `json:"page,omitempty"` // URL on the dashboard
	Events      []Event     `json:"events"`         // oldest first, at least one
	// Test marks a message that a user sent to try a destination.
	Test bool `json:"test,omitempty"`
}

// Change is a component that changes its version.
type Change struct {
	Component  string `json:"component"`
	Repository string `json:"repository,omitempty"` // of the image
	From       string `json:"from,omitempty"`       // tag
	FromDigest string `json:"fromDigest,omitempty"`
	To         string `json:"to,omitempty"` // tag
	ToDigest   string `json:"toDigest,omitempty"`
}

// PullRequest is the pull request of a promotion.
type PullRequest struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
}

// Event is one event of a promotion.
type Event struct {
	ID     string    `json:"id"` // unique, and the same when the event is sent again
	State  State     `json:"state"`
	At     time.Time `json:"at"`
	Rule   string    `json:"rule,omitempty"`   // of the reason
	Reason string    `json:"reason,omitempty"` // as in the pull request
	User   string    `json:"user,omitempty"`   // who decided or committed
	Commit string    `json:"commit,omitempty"`
}

// Last returns the newest event.
func (m Message) Last() Event { return m.Events[len(m.Events)-1] }

// Only returns the message as it is about one of its events.
func (m Message) Only(event Event) Message {
	m.Events = []Event{event}
	return m
}

// Mode is what a destination gets of a promotion.
type Mode int

// The modes.
const (
	// Updated: one message, which is replaced at each event.
	Updated Mode = iota
	// Announced: a message for the first event, and one for each final one.
	Announced
	// Streamed: each event on its own, for programs.
	Streamed
)

// Receipt identifies a message at a service, so that it can be replaced. It has no secret.
type Receipt struct {
	Channel string `json:"channel,omitempty"`
	ID      string `json:"id,omitempty"`
	// To is the address that the destination had. A message at another one is not replaced: what has
	// happened since must not reach it.
	To string `json:"to,omitempty"`
}

// Sender sends messages to one destination.
type Sender interface {
	// Mode returns what the destination gets.
	Mode() Mode
	// Send sends a message about its last event, or in the mode Updated replaces the message
	// of a receipt. The zero Receipt: there is none yet.
	Send(ctx context.Context, m Message, sent Receipt) (Receipt, error)
	// Check verifies as far as possible without a message that the destination accepts some,
	// and returns what was verified.
	Check(ctx context.Context) (string, error)
}

// safeURL returns a URL that is only a link: http or https, without credentials and with
// everything escaped that ends a link in some format. It is empty for others.
func safeURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	escaped := make([]byte, 0, len(text))
	for _, c := range []byte(u.String()) {
		switch {
		case c <= ' ' || c >= 0x7f, c == '(', c == ')', c == '@', c == '<', c == '>', c == '|', c == '"', c == '\'', c == '`',
			c == '\\', c == '[', c == ']', c == '*':
			const digits = "0123456789ABCDEF"
			escaped = append(escaped, '%', digits[c>>4], digits[c&15])
		default:
			escaped = append(escaped, c)
		}
	}
	return string(escaped)
}
