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
	"promoter/internal/fault"
	"promoter/internal/secret"
)

// Options are one entry of `receivers` in the server's file, with its secrets.
type Options struct {
	Name string
	Kind string // the sender, one of Kinds
	// Secret signs the body or stands in a header, as the sender does it.
	Secret secret.String
	// PathSecret stands in the URL behind the receiver's name.
	PathSecret secret.String
	// Header holds the secret of senders that let people choose one.
	Header string
	// Audience and Email are those of Google's identity tokens.
	Audience, Email string
	// Anonymous takes what anybody posts.
	Anonymous bool
	// HTTP fetches the keys of Google's identity tokens.
	HTTP *http.Client
	// Now is the clock, against which identity tokens expire.
	Now func() time.Time
}

// Receiver takes the webhooks of one sender. It is safe for many goroutines.
type Receiver struct {
	name   string
	kind   string
	sign   func(...[]byte) []byte // HMAC-SHA256
	proof  proof
	decode decoder
}

// Request is what was posted.
type Request struct {
	Header     http.Header
	PathSecret string // what stood behind the receiver's name in the URL
	Body       []byte // bounded by the server

	// sum is the HMAC of the body. It is made for every kind of credential, for nobody
	// shall tell by the time which kind a receiver has, or whether there is one.
	sum []byte
}

// Delivery is what a request says.
type Delivery struct {
	// ID is the sender's own name for it, which a redelivery keeps; the hash of the
	// body where there is none.
	ID string
	// EventType is how the sender calls what happened.
	EventType string
	// Events are all that it means to us, each of them valid.
	Events []event.Event
	// Ignored says why there are none.
	Ignored string
}

// decoder reads what one sender posts. An error says that it cannot be read;
// what is well formed and means nothing to us has the reason in Ignored.
type decoder func(Request) (Delivery, error)

// proof says whether a request comes from who knows the credential.
type proof func(context.Context, Request) bool

// New makes a receiver. An Invalid fault says what its entry lacks.
func New(options Options) (*Receiver, error) {
	known, ok := senders()[options.Kind]
	if !ok {
		return nil, fault.New(fault.Invalid, "receiver %s: this promoter has no sender %q", options.Name, options.Kind)
	}
	key := []byte(options.Secret.Reveal())
	if options.Secret.IsZero() {
		key = []byte(rand.Text())
	}
	r := &Receiver{name: options.Name, kind: options.Kind, sign: hmacOf(sha256.New, key), decode: known.decode}
	var err error
	if r.proof, err = proofOf(known, options); err != nil {
		return nil, fault.New(fault.Invalid, "receiver %s: %w", options.Name, err)
	}
	return r, nil
}

// Name is that of the entry.
func (r *Receiver) Name() string { return r.name }

// Kind is the sender.
func (r *Receiver) Kind() string { return r.kind }

var errUnproven = errors.New("unknown receiver, or a wrong or missing credential")

// Receive checks the credential and reads the request. A wrong or missing
// credential is an Unauthorized fault that says no more than that, garbage an
// Invalid one.
func (r *Receiver) Receive(ctx context.Context, request Request) (Delivery, error) {
	request.sum = r.sign(request.Body)
	if !r.proof(ctx, request) {
		return Delivery{}, fault.Wrap(fault.Unauthorized, errUnproven)
	}
	delivery, err := r.decode(request)
	if err != nil {
		return Delivery{}, fault.New(fault.Invalid, "the request of %s cannot be read: %w", r.kind, err)
	}
	return settled(delivery, request), nil
}

// maxHints is how many things one delivery may hint at: more than any sender lists.
const maxHints = 1000

// settled leaves valid hints, each once, and names the delivery.
func settled(d Delivery, request Request) Delivery {
	seen := map[event.Event]bool{}
	var hints []event.Event
	for _, hint := range d.Events {
		if hint.Valid() && !seen[hint] && len(hints) < maxHints {
			seen[hint] = true
			hints = append(hints, hint)
		}
	}
	if d.Events = hints; len(hints) == 0 && d.Ignored == "" {
		d.Ignored = "it names nothing that can be looked for"
	}
	if d.EventType = plain(d.EventType); !isName(d.ID) {
		sum := sha256.Sum256(request.Body)
		d.ID = hex.EncodeToString(sum[:])
	}
	return d
}

// maxName bounds the id that a sender gives to a delivery, and what it calls an
// event, in bytes.
const maxName = 128

func isName(text string) bool {
	return text != "" && len(text) <= maxName && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// plain leaves of a text what can be kept and shown in one line.
func plain(text string) string {
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

// LoggableHeaders returns the headers that are worth keeping with a delivery: those by which
// senders say what it is, and none that can hold a credential.
func (r *Receiver) LoggableHeaders(all http.Header) http.Header {
	kept := http.Header{}
	for _, name := range []string{
		"Content-Type", "Ce-Id", "Ce-Source", "Ce-Specversion", "Ce-Type", "Idempotency-Key", "X-Forgejo-Delivery", "X-Forgejo-Event",
		"X-Gitea-Delivery", "X-Gitea-Event", "X-Github-Delivery", "X-Github-Enterprise-Host", "X-Github-Event", "X-Gitlab-Event",
		"X-Gitlab-Event-Uuid", "X-Gitlab-Instance", "X-Goog-Pubsub-Message-Id", "X-Nexus-Webhook-Delivery",
	} {
		if values := all.Values(name); len(values) > 0 {
			kept[name] = values[:1:1]
		}
	}
	return kept
}
