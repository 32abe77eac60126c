// Package webhook verifies the requests of webhook senders and decodes them into events.
// Each sender has one file, named after it, with what it posts, and one row in the table of
// senders.go, which names how it authenticates; the common ways are in credential.go.
//
// A payload is never data: an event names what may have changed, and everything else is
// requested from the registry or the forge. Reports about health are the exception. The package knows nothing about routes: the
// server reads a bounded body once and passes it on.
package webhook

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"promoter/internal/event"
	"promoter/internal/evidence"
	"promoter/internal/fault"
	"promoter/internal/secret"
	"promoter/internal/snapshot"
)

// Options are one entry of `receivers` in the server file, with its secrets.
type Options struct {
	Name string
	Kind string // the sender, one of Kinds
	// Secret signs the body or is sent in a header, depending on the sender.
	Secret secret.String
	// PathSecret is the last segment of the URL, after the name of the receiver.
	PathSecret secret.String
	// Header carries the secret of senders that let users choose the header.
	Header string
	// Audience and Email are required claims of Google's identity tokens.
	Audience, Email string
	// Posts reports whether the snapshots of the receiver are promoted, not only triggers.
	Posts bool
	// Anonymous accepts requests without a credential.
	Anonymous bool
	// HTTP fetches the keys of Google's identity tokens.
	HTTP *http.Client
	// Now is the clock, against which identity tokens expire.
	Now func() time.Time
}

// Receiver verifies and decodes the requests of one sender. It is safe for concurrent use.
type Receiver struct {
	name   string
	kind   string
	posts  bool
	header string                 // carries the secret; empty: that of the sender
	sign   func(...[]byte) []byte // HMAC-SHA256
	verify verifier
	decode decoder
}

// Request is the posted request.
type Request struct {
	Header     http.Header
	PathSecret string // the segment of the URL after the name of the receiver
	Body       []byte // bounded by the server

	// sum is the HMAC of the body. It is computed for every kind of credential, so that
	// the response time reveals neither the kind nor whether the receiver exists.
	sum []byte
}

// Delivery is a decoded request.
type Delivery struct {
	// ID is the sender's ID of the delivery, which a redelivery keeps; the hash of the
	// body where the sender has none.
	ID string
	// EventType is the sender's name for the event.
	EventType string
	// Events are the valid, distinct events of the request.
	Events []event.Event
	// Reports are about the health of environments. Each has an event at least.
	Reports []evidence.Report
	// Snapshot is what a pipeline posted; nil: it is not a delivery of this kind.
	Snapshot *snapshot.Snapshot
	// Ignored is the reason why there are no events.
	Ignored string
}

// decoder decodes the requests of one sender. It returns an error for a malformed request,
// and a delivery with the reason in Ignored for one that is not relevant.
type decoder func(Request) (Delivery, error)

// verifier reports whether a request carries the credential of the receiver.
type verifier func(context.Context, Request) bool

// New returns a receiver. An Invalid fault names what its entry is missing.
func New(options Options) (*Receiver, error) {
	known, ok := senders()[options.Kind]
	if !ok {
		return nil, fault.New(fault.Invalid, "receiver %s: this promoter has no sender %q", options.Name, options.Kind)
	}
	key := []byte(options.Secret.Reveal())
	if options.Secret.IsZero() {
		key = []byte(rand.Text())
	}
	r := &Receiver{name: options.Name, kind: options.Kind, posts: options.Posts, header: http.CanonicalHeaderKey(options.Header), sign: hmacOf(sha256.New, key), decode: known.decode}
	var err error
	if r.verify, err = verifierOf(known, options); err != nil {
		return nil, fault.New(fault.Invalid, "receiver %s: %w", options.Name, err)
	}
	return r, nil
}

// Name returns the name of the entry.
func (r *Receiver) Name() string { return r.name }

// Kind returns the kind of the sender.
func (r *Receiver) Kind() string { return r.kind }

// Posts reports whether the snapshots of the receiver are promoted, not only triggers.
func (r *Receiver) Posts() bool { return r.posts }

var errUnauthorized = errors.New("unknown receiver, or a wrong or missing credential")

// Receive verifies the credential and decodes the request. A wrong or missing credential
// is an Unauthorized fault without further details, a malformed request an Invalid one.
func (r *Receiver) Receive(ctx context.Context, request Request) (Delivery, error) {
	request.sum = r.sign(request.Body)
	if !r.verify(ctx, request) {
		return Delivery{}, fault.Wrap(fault.Unauthorized, errUnauthorized)
	}
	return decode(r.kind, r.decode, request)
}

// Authenticates reports whether a request carries the credential of the receiver, where that is
// in a header.
func (r *Receiver) Authenticates(ctx context.Context, request Request) bool {
	return r.verify(ctx, request)
}

// Decode decodes a request without verifying a credential: for stored deliveries, which
// were verified on arrival, and for files that a user passes.
func Decode(kind string, request Request) (Delivery, error) {
	known, ok := senders()[kind]
	if !ok {
		return Delivery{}, fault.New(fault.Invalid, "this promoter has no sender %q", kind)
	}
	return decode(kind, known.decode, request)
}

func decode(kind string, decode decoder, request Request) (Delivery, error) {
	delivery, err := decode(request)
	if err != nil {
		return Delivery{}, fault.New(fault.Invalid, "the request of %s cannot be read: %w", kind, err)
	}
	return normalize(delivery, request), nil
}

// maxEvents limits the events of one delivery: more than any sender lists.
const maxEvents = 1000

// normalize keeps the valid events, each once, and gives the delivery an ID.
func normalize(d Delivery, request Request) Delivery {
	seen := map[event.Event]bool{}
	var events []event.Event
	for _, e := range d.Events {
		if e.Valid() && !seen[e] && len(events) < maxEvents {
			seen[e] = true
			events = append(events, e)
		}
	}
	if d.Events = events; len(events) == 0 && d.Ignored == "" {
		d.Ignored = "it names no image and no repository"
	}
	if len(events) == 0 {
		d.Reports = nil // nothing would use them
	}
	if d.EventType = printable(d.EventType); !isID(d.ID) {
		sum := sha256.Sum256(request.Body)
		d.ID = hex.EncodeToString(sum[:])
	}
	return d
}

// maxName limits the ID of a delivery and the name of an event, in bytes.
const maxName = 128

func isID(text string) bool {
	return text != "" && len(text) <= maxName && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// printable returns the text as one line without control characters, cut to maxName.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	for len(text) > maxName {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// LoggableHeaders returns the headers to store with a delivery: those that identify the
// event, and none that can hold a credential.
func (r *Receiver) LoggableHeaders(all http.Header) http.Header {
	kept := http.Header{}
	for _, name := range []string{
		"Content-Type", "Ce-Id", "Ce-Source", "Ce-Specversion", "Ce-Type", "Idempotency-Key", "X-Event-Key", "X-Forgejo-Delivery",
		"X-Forgejo-Event", "X-Gitea-Delivery", "X-Gitea-Event", "X-Github-Delivery", "X-Github-Enterprise-Host", "X-Github-Event",
		"X-Gitlab-Event", "X-Gitlab-Event-Uuid", "X-Gitlab-Instance", "X-Gogs-Delivery", "X-Gogs-Event", "X-Goog-Pubsub-Message-Id",
		"X-Nexus-Webhook-Delivery", "X-Request-Id", "X-Request-Uuid",
	} {
		if values := all.Values(name); len(values) > 0 && name != r.header { // an operator may have chosen one of them
			kept[name] = values[:1:1]
		}
	}
	return kept
}
