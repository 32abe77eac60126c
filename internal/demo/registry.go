package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

	"promoter/internal/outbound"
)

// registry is an OCI registry on loopback. It sends a notification for every pushed manifest, as
// the CNCF distribution registry does: an envelope of events, with a header that authenticates
// the sender.
//
// https://distribution.github.io/distribution/about/notifications/
type registry struct {
	loopback *loopback
	images   http.Handler
	now      func() time.Time

	mutex  sync.Mutex
	hook   hook
	pushes int // of which it notified
	sent   notified
}

func startRegistry(ctx context.Context, now func() time.Time) (r *registry, err error) {
	silent := slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	r = &registry{images: fake.New(fake.Logger(silent)), now: now}
	r.loopback, err = startLoopback(ctx, r)
	return r, err
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

// notified is a notification and its response.
type notified struct {
	repository, tag string
	at              time.Time // when it was sent
	status          int
	answer          string
}

// notifyTo starts sending notifications to a URL.
func (r *registry) notifyTo(client *http.Client, to, secret string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.hook = hook{client, to, secret}
}

// last returns the latest notification.
func (r *registry) last() notified {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.sent
}

// ServeHTTP serves the registry. A push returns after its notification was
// answered or failed; a real registry would retry.
func (r *registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	seen := &statusWriter{ResponseWriter: w}
	r.images.ServeHTTP(seen, request)
	repository, tag, found := strings.Cut(strings.TrimPrefix(request.URL.Path, "/v2/"), "/manifests/")
	if request.Method == http.MethodPut && found && seen.status == http.StatusCreated {
		r.notify(request, repository, tag, w.Header().Get("Docker-Content-Digest"))
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

func (r *registry) notify(push *http.Request, repository, tag, digest string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.hook.url == "" {
		return
	}
	r.pushes++
	r.sent = notified{repository: repository, tag: tag, at: r.now()}
	envelope := payload{"events": []payload{{
		"id":     fmt.Sprintf("%s-%d", strings.TrimPrefix(digest, "sha256:"), r.pushes),
		"action": "push", "request": payload{"host": push.Host, "method": push.Method},
		"target": payload{"mediaType": push.Header.Get("Content-Type"), "digest": digest, "repository": repository, "tag": tag},
	}}}
	r.sent.status, r.sent.answer = r.hook.post(push.Context(), envelope, func([]byte) map[string]string {
		return map[string]string{
			"Content-Type":  "application/vnd.docker.distribution.events.v2+json",
			"Authorization": "Bearer " + r.hook.secret,
		}
	})
}

// hook is where a server posts what happened.
type hook struct {
	client *http.Client
	url    string // empty: no receiver
	secret string
}

// payload is a JSON object.
type payload map[string]any

// maxResponse limits a response, in bytes.
const maxResponse = 1 << 20

// post sends an object with headers that depend on it. It returns the status and the body of the
// response, or the error.
func (h hook) post(ctx context.Context, object payload, headers func(body []byte) map[string]string) (status int, answer string) {
	body, err := json.Marshal(object)
	if err != nil {
		return 0, err.Error()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	for name, value := range headers(body) {
		request.Header.Set(name, value)
	}
	status, answer, err = exchange(h.client, request)
	if err != nil {
		return status, err.Error()
	}
	return status, strings.TrimSpace(answer)
}

// exchange sends a request, and returns the status and the body of the response.
func exchange(client *http.Client, request *http.Request) (status int, body string, err error) {
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := outbound.ReadAll(response.Body, maxResponse)
	return response.StatusCode, string(text), err
}
