package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/secret"
)

// SignedOptions are a URL that receives signed requests.
type SignedOptions struct {
	Transport http.RoundTripper
	URL       string
	Secret    secret.String // whsec_ and a key in Base64
	Now       func() time.Time
}

// signed sends requests with the signature of Standard Webhooks.
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
type signed struct {
	poster poster
	url    string
	key    []byte
	now    func() time.Time
}

// minKey is the minimum length of a key, in bytes, as the specification has it.
const minKey = 24

func newSigned(service string, o SignedOptions) (signed, error) {
	text, isKey := strings.CutPrefix(o.Secret.Reveal(), "whsec_")
	key, err := base64.StdEncoding.DecodeString(text)
	if !isKey || err != nil || len(key) < minKey {
		return signed{}, fault.New(fault.Invalid,
			`%s: the secret is not whsec_ and a key of at least %d bytes in Base64: write echo "whsec_$(openssl rand -base64 32)"`,
			service, minKey)
	}
	return signed{newPoster(service, o.Transport, o.Secret, secret.New(text)), o.URL, key, o.Now}, nil
}

// post sends a body. The ID is the same each time that an event is sent.
func (s signed) post(ctx context.Context, id string, header http.Header, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	at := strconv.FormatInt(s.now().Unix(), 10)
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(data)
	signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	all := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {at}, "Webhook-Signature": {signature}}
	maps.Copy(all, header)
	_, err = s.poster.sendBytes(ctx, http.MethodPost, s.url, all, data)
	return err
}

// checkSigned is the result of Sender.Check: a request without an event is none that the receiver
// knows, so that nothing is sent.
const checkSigned = "signs with its secret"

// webhook sends each event as JSON.
type webhook struct{ signed signed }

// NewWebhook returns the sender of a signed webhook.
func NewWebhook(o SignedOptions) (Sender, error) {
	s, err := newSigned("webhook", o)
	return webhook{s}, err
}

// webhookEvent is the body of a webhook.
type webhookEvent struct {
	Type      string      `json:"type"` // promotion. and the state
	Timestamp time.Time   `json:"timestamp"`
	Data      webhookData `json:"data"`
}

type webhookData struct {
	Promotion   string         `json:"promotion"` // the same for all events of one promotion
	Repository  string         `json:"repository"`
	Environment string         `json:"environment"`
	Application string         `json:"application"`
	Snapshot    string         `json:"snapshot"`
	State       State          `json:"state"`
	Versions    []Change       `json:"versions"`
	Reason      *webhookReason `json:"reason,omitempty"`
	User        string         `json:"user,omitempty"`
	Commit      string         `json:"commit,omitempty"`
	PullRequest *PullRequest   `json:"pullRequest,omitempty"`
	Page        string         `json:"page,omitempty"`
	Test        bool           `json:"test,omitempty"`
}

type webhookReason struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// Send implements Sender.
func (w webhook) Send(ctx context.Context, m Message, _ Receipt) (Receipt, error) {
	last := m.Last()
	return Receipt{}, w.signed.post(ctx, last.ID, nil,
		webhookEvent{Type: "promotion." + string(last.State), Timestamp: last.At.UTC(), Data: dataOf(m)})
}

// Mode implements Sender.
func (webhook) Mode() Mode { return Streamed }

// Check implements Sender.
func (webhook) Check(context.Context) (string, error) { return checkSigned, nil }

func dataOf(m Message) webhookData {
	last := m.Last()
	data := webhookData{
		Promotion: m.ID, Repository: m.Repository, Environment: m.Environment, Application: m.Application, Snapshot: m.Snapshot,
		State: last.State, Versions: m.Versions, User: last.User, Commit: last.Commit, Page: m.Page, Test: m.Test,
	}
	if last.Reason != "" {
		data.Reason = &webhookReason{Rule: last.Rule, Message: last.Reason}
	}
	if m.PullRequest != (PullRequest{}) {
		data.PullRequest = &m.PullRequest
	}
	return data
}
