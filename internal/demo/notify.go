package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// notifier sends a notification for every pushed manifest, as the CNCF
// distribution registry does: an envelope of events, with a header that
// authenticates the sender.
//
// https://distribution.github.io/distribution/about/notifications/
type notifier struct {
	next http.Handler
	now  func() time.Time

	mutex  sync.Mutex
	client *http.Client
	to     string // a URL; empty: no receiver
	secret string
	told   []notified
}

// notified is a notification and its response.
type notified struct {
	repository, tag string
	at              time.Time // when it was sent
	status          int
	answer          string
}

// tell starts sending notifications.
func (n *notifier) tell(client *http.Client, to, secret string) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.client, n.to, n.secret = client, to, secret
}

// last returns the latest notification.
func (n *notifier) last() (notified, bool) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if len(n.told) == 0 {
		return notified{}, false
	}
	return n.told[len(n.told)-1], true
}

// ServeHTTP serves the registry. A push returns after its notification was
// answered or failed; a real registry would retry.
func (n *notifier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := &statusWriter{ResponseWriter: w}
	n.next.ServeHTTP(seen, r)
	repository, tag, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"), "/manifests/")
	if r.Method == http.MethodPut && found && seen.status == http.StatusCreated {
		n.notify(r.Context(), r.Host, repository, tag, r.Header.Get("Content-Type"), w.Header().Get("Docker-Content-Digest"))
	}
}

// statusWriter records the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader forwards the status.
func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func (n *notifier) notify(ctx context.Context, host, repository, tag, mediaType, digest string) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.to == "" {
		return
	}
	n.told = append(n.told, notified{repository: repository, tag: tag, at: n.now()})
	one := &n.told[len(n.told)-1]
	id := fmt.Sprintf("%s-%d", strings.TrimPrefix(digest, "sha256:"), len(n.told))
	envelope, err := json.Marshal(envelopeOf(id, host, repository, tag, mediaType, digest))
	if err != nil {
		one.answer = err.Error()
		return
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, n.to, bytes.NewReader(envelope))
	if err != nil {
		one.answer = err.Error()
		return
	}
	request.Header.Set("Content-Type", "application/vnd.docker.distribution.events.v2+json")
	request.Header.Set("Authorization", "Bearer "+n.secret)
	one.status, one.answer = send(n.client, request)
}

// send returns the status and the body of the response, or the error.
func send(client *http.Client, request *http.Request) (status int, answer string) {
	response, err := client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return response.StatusCode, err.Error()
	}
	return response.StatusCode, strings.TrimSpace(string(text))
}

// envelopeOf returns the notification for one push.
func envelopeOf(id, host, repository, tag, mediaType, digest string) body {
	return body{"events": []body{{
		"id": id, "action": "push", "request": body{"host": host, "method": http.MethodPut},
		"target": body{"mediaType": mediaType, "digest": digest, "repository": repository, "tag": tag},
	}}}
}
