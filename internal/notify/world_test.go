package notify_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/notify"
	"promoter/internal/secret"
)

// at is when the events of the tests happen.
var at = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// received is a request that a service received.
type received struct {
	method, path string
	header       http.Header
	body         []byte
}

func (r received) decode(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal(r.body, into); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
}

// service is a local receiver that records requests.
type service struct {
	*httptest.Server
	mutex  sync.Mutex
	all    []received
	header http.Header       // of responses
	client http.RoundTripper // of senders; nil: that of the server
}

// newService starts a service that responds with the results of a function.
func newService(t *testing.T, respond func(r received) (status int, body string)) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		one := received{r.Method, r.URL.RequestURI(), r.Header, body}
		s.mutex.Lock()
		s.all = append(s.all, one)
		s.mutex.Unlock()
		status, text := respond(one)
		maps.Copy(w.Header(), s.header)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) transport() http.RoundTripper {
	if s.client != nil {
		return s.client
	}
	return s.Client().Transport
}

func (s *service) requests() []received {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.all
}

// url returns a URL of the service as a secret.
func (s *service) url(path string) secret.String { return secret.New(s.URL + path) }

// message is a message whose texts attack the formats of services.
func message(states ...notify.State) notify.Message {
	m := notify.Message{
		ID: "promotion-1", Repository: "github.com/acme/gitops", Environment: "prod", Application: "shop", Snapshot: "abc123",
		Versions: []notify.Change{{
			Component: "web", Repository: "quay.io/acme/web", From: "1.4.1", To: "1.4.2",
			FromDigest: "sha256:" + strings.Repeat("a", 64), ToDigest: "sha256:" + strings.Repeat("b", 64),
		}},
		PullRequest: notify.PullRequest{Number: 12, URL: "https://github.com/acme/gitops/pull/12"},
		Page:        "https://promoter.example.com/applications/shop",
	}
	for i, state := range states {
		m.Events = append(m.Events, notify.Event{
			ID: "event-" + string(state), State: state, At: at.Add(time.Duration(i) * time.Minute), Rule: "soak", Reason: attack, User: "@everyone",
		})
	}
	return m
}

// attack is the text of a user who tries to mention everyone, to add links, and to end a format.
const attack = "soak <!channel> <https://evil.example|click> @everyone @channel [x](https://evil.example) `*_~ \r\nBcc: a@evil.example\x1b[31m & </p>"
