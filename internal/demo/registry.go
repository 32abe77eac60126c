package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	fake "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// registry is an OCI registry on loopback.
type registry struct {
	loopback *loopback
	notifier *notifier
}

func startRegistry(ctx context.Context, now func() time.Time) (*registry, error) {
	silent := slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	n := &notifier{next: fake.New(fake.Logger(silent)), now: now}
	served, err := startLoopback(ctx, n)
	if err != nil {
		return nil, err
	}
	return &registry{loopback: served, notifier: n}, nil
}

// publish pushes images and fills in their digests.
func (r *registry) publish(ctx context.Context, versions ...version) ([]version, error) {
	published := make([]version, 0, len(versions))
	for _, v := range versions {
		var err error
		if v.digest, err = r.push(ctx, v); err != nil {
			return nil, err
		}
		published = append(published, v)
	}
	return published, nil
}

func (r *registry) push(ctx context.Context, v version) (string, error) {
	ref, err := name.NewTag(r.loopback.host+"/acme/"+v.application+":"+v.tag, name.Insecure)
	if err != nil {
		return "", fmt.Errorf("name the image: %w", err)
	}
	image, err := build(v)
	if err != nil {
		return "", fmt.Errorf("make %s: %w", ref, err)
	}
	if err := remote.Write(ref, image, remote.WithContext(ctx)); err != nil {
		return "", fmt.Errorf("push %s: %w", ref, err)
	}
	digest, err := image.Digest()
	return digest.String(), err
}

// build returns an image without layers, which is enough for a digest.
func build(v version) (v1.Image, error) {
	image, err := mutate.CreatedAt(empty.Image, v1.Time{Time: v.created})
	if err != nil {
		return nil, err
	}
	return mutate.Config(image, v1.Config{Labels: map[string]string{
		"org.opencontainers.image.title":    "acme/" + v.application,
		"org.opencontainers.image.version":  v.tag,
		"org.opencontainers.image.source":   v.source,
		"org.opencontainers.image.revision": v.revision,
	}})
}

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
	sent   []notified
}

// notified is a notification and its response.
type notified struct {
	repository, tag string
	at              time.Time // when it was sent
	status          int
	answer          string
}

// notifyTo starts sending notifications to a URL.
func (n *notifier) notifyTo(client *http.Client, to, secret string) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.client, n.to, n.secret = client, to, secret
}

// last returns the latest notification.
func (n *notifier) last() (notified, bool) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if len(n.sent) == 0 {
		return notified{}, false
	}
	return n.sent[len(n.sent)-1], true
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
	n.sent = append(n.sent, notified{repository: repository, tag: tag, at: n.now()})
	one := &n.sent[len(n.sent)-1]
	id := fmt.Sprintf("%s-%d", strings.TrimPrefix(digest, "sha256:"), len(n.sent))
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

// maxResponse limits a response, in bytes.
const maxResponse = 1 << 20

// send returns the status and the body of the response, or the error.
func send(client *http.Client, request *http.Request) (status int, answer string) {
	response, err := client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return response.StatusCode, err.Error()
	}
	return response.StatusCode, strings.TrimSpace(string(text))
}

// payload is a JSON object.
type payload map[string]any

// envelopeOf returns the notification for one push.
func envelopeOf(id, host, repository, tag, mediaType, digest string) payload {
	return payload{"events": []payload{{
		"id": id, "action": "push", "request": payload{"host": host, "method": http.MethodPut},
		"target": payload{"mediaType": mediaType, "digest": digest, "repository": repository, "tag": tag},
	}}}
}
