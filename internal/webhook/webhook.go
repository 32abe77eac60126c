// Package webhook receives the requests of webhook senders: package credential verifies them, and
// the decoder of the sender turns them into events. Each sender has one row in the table of
// senders.go, and one file in packages forges, pipelines, or registries.
//
// The package knows nothing about routes: the server reads a bounded body once and passes it on.
package webhook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"promoter/internal/event"
	"promoter/internal/fault"
	"promoter/internal/webhook/credential"
	"promoter/internal/webhook/payload"
)

// Options are one entry of `receivers` in the server file.
type Options struct {
	Name string
	Kind string // the sender, one of receiver.Names
	// Posts reports whether the snapshots of the receiver are promoted, not only triggers.
	Posts      bool
	Credential credential.Options
}

// Receiver verifies and decodes the requests of one sender. It is safe for concurrent use.
type Receiver struct {
	options    Options
	credential *credential.Credential
	decode     decoder
}

// Request is the posted request.
type Request = payload.Request

// Delivery is a decoded request.
type Delivery = payload.Delivery

// New returns a receiver. An Invalid fault names what its entry is missing.
func New(options Options) (*Receiver, error) {
	decode, ok := senders()[options.Kind]
	if !ok {
		return nil, fault.New(fault.Invalid, "receiver %s: this promoter has no sender %q", options.Name, options.Kind)
	}
	verified, err := credential.New(options.Kind, options.Credential)
	if err != nil {
		return nil, fault.New(fault.Invalid, "receiver %s: %w", options.Name, err)
	}
	options.Credential.Header = http.CanonicalHeaderKey(options.Credential.Header)
	return &Receiver{options: options, credential: verified, decode: decode}, nil
}

// Name returns the name of the entry.
func (r *Receiver) Name() string { return r.options.Name }

// Kind returns the kind of the sender.
func (r *Receiver) Kind() string { return r.options.Kind }

// Posts reports whether the snapshots of the receiver are promoted, not only triggers.
func (r *Receiver) Posts() bool { return r.options.Posts }

var errUnauthorized = errors.New("unknown receiver, or a wrong or missing credential")

// Receive verifies the credential and decodes the request. A wrong or missing credential
// is an Unauthorized fault without further details, a malformed request an Invalid one.
func (r *Receiver) Receive(ctx context.Context, request Request) (Delivery, error) {
	if !r.credential.Verify(ctx, request) {
		return Delivery{}, fault.Wrap(fault.Unauthorized, errUnauthorized)
	}
	return decodeWith(r.options.Kind, r.decode, request)
}

// Authenticates reports whether a request carries the credential of the receiver, where that is
// in a header.
func (r *Receiver) Authenticates(ctx context.Context, request Request) bool {
	return r.credential.Verify(ctx, request)
}

// Decode decodes a request without verifying a credential: for stored deliveries, which
// were verified on arrival, and for files that a user passes.
func Decode(kind string, request Request) (Delivery, error) {
	decode, ok := senders()[kind]
	if !ok {
		return Delivery{}, fault.New(fault.Invalid, "this promoter has no sender %q", kind)
	}
	return decodeWith(kind, decode, request)
}

func decodeWith(kind string, decode decoder, request Request) (Delivery, error) {
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
	d.Events = events
	if len(events) == 0 {
		d.Ignored = cmp.Or(d.Ignored, "it names no image and no repository")
		d.Reports = nil // nothing would use them
	}
	d.EventType = printable(d.EventType)
	if !isID(d.ID) {
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
		if values := all.Values(name); len(values) > 0 && name != r.options.Credential.Header { // an operator may have chosen one of them
			kept[name] = values[:1:1]
		}
	}
	return kept
}
