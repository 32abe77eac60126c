package app_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/connect"
	"promoter/internal/database"
)

// served is a service for a story.
type served struct {
	*story
	url   string
	lines chan string // of the log
	stop  func() error
	db    *database.DB // nil: the test did not open it
}

const serveSecret = "canary-secret-of-the-webhooks"

// serving configures the service.
type serving struct {
	quiet     time.Duration // negative: none
	poll      string
	receivers string // more receivers, in YAML
}

// serve starts a service for the repository of a story, and waits for its first
// reconciliation.
func serve(t *testing.T, s *story) *served {
	t.Helper()
	return serveAs(t, s, serving{quiet: -1, poll: "1h"})
}

func serveAs(t *testing.T, s *story, o serving) *served {
	t.Helper()
	return serveText(t, s, o.quiet, fmt.Sprintf(`version: 1
data: %q
poll: %s
forges:
  forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}
repositories:
  - {forge: forge, name: acme/gitops}
api: {token: "env:API"}
receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}
  forge: {kind: github, secret: "env:HOOK"}
%s
networks: [127.0.0.0/8]
%s`, filepath.Join(s.dir, "data"), o.poll, s.forge.URL(), o.receivers, s.expand(insecureRegistry)))
}

// serveText serves a server file.
func serveText(t *testing.T, s *story, quiet time.Duration, text string) *served {
	t.Helper()
	file := filepath.Join(s.dir, "served.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(name string) (string, bool) {
		value, ok := map[string]string{"TOKEN": s.token, "HOOK": serveSecret, "API": serveToken}[name]
		return value, ok
	}
	server, err := connect.OpenService(connect.Options{WritePace: -1, Config: file, Env: env, Now: s.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &served{story: s, url: "http://" + listener.Addr().String(), lines: make(chan string, 1000)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- app.Serve(ctx, server, app.ServeOptions{Listener: listener, Debounce: quiet, CommitHook: s.around, Log: slog.New(slog.NewJSONHandler(w, nil))})
	}()
	w.stop = func() error {
		cancel()
		return <-ended
	}
	t.Cleanup(cancel)
	w.until("reconciled")
	w.rests()
	return w
}

// Write receives a line of the log.
func (w *served) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "canary") {
		w.t.Errorf("a secret is in the log: %s", line)
	}
	w.lines <- string(line)
	return len(line), nil
}

// until waits for a message in the log, and returns its line.
func (w *served) until(message string) string {
	w.t.Helper()
	deadline := time.After(time.Minute)
	var before []string
	for {
		select {
		case line := <-w.lines:
			if strings.Contains(line, `"msg":"`+message+`"`) {
				return line
			}
			before = append(before, line)
		case <-deadline:
			w.t.Fatalf("the log does not say %q:\n%s", message, strings.Join(before, ""))
		}
	}
}

// signatureOf is the HMAC of a body, as scripts and GitHub sign it.
func signatureOf(body string) string {
	mac := hmac.New(sha256.New, []byte(serveSecret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// post sends a webhook, signed as scripts and GitHub do, and returns the status.
func (w *served) post(receiver, body string, headers ...string) int {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/webhooks/"+receiver, bytes.NewReader([]byte(body)))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("X-Signature", signatureOf(body))
	request.Header.Set("X-Hub-Signature-256", signatureOf(body))
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		w.t.Fatal(err)
	}
	return response.StatusCode
}

// An image is pushed and its webhook arrives: dev has it, and staging is proposed. A
// user merges and the forge sends an event: prod is proposed. A redelivery changes
// nothing, and an image without subscribers leads to no reconciliation.
func TestServe_webhooks(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serve(t, s)
	s.release("web", "1.1.0")
	image := s.expand(`{"image": "$R/acme/web:1.1.0"}`)
	if status := w.post("images", image); status != http.StatusAccepted {
		t.Fatalf("the webhook of the image: %d", status)
	}
	w.until("opened")
	w.until("reconciled")
	s.holds("dev", "1.1.0 1.0.0")
	s.pulls(stagingHead + " open")

	s.repo.Pulls.Merge("ada", 1, "squash")
	merged := fmt.Sprintf(`{"action": "closed", "repository": {"id": %d, "full_name": "acme/gitops", "html_url": "%s/acme/gitops"}}`, s.repo.ID(), s.forge.URL())
	if status := w.post("forge", merged, "X-GitHub-Event", "pull_request", "X-GitHub-Delivery", "1"); status != http.StatusAccepted {
		t.Fatalf("the webhook of the merge: %d", status)
	}
	w.until("opened")
	w.until("reconciled")
	s.pulls(stagingHead+" merged", prodHead+" open")

	s.forge.Traffic.ResetRequests()
	if status := w.post("images", s.expand(`{"image": "$R/acme/unknown:1"}`)); status != http.StatusAccepted {
		t.Errorf("an image that nobody follows: %d", status)
	}
	if status := w.post("images", image, "X-Signature", "sha256=00"); status != http.StatusUnauthorized {
		t.Errorf("a forged webhook: %d", status)
	}
	w.post("images", image)
	w.until("reconciled")
	for route, n := range s.forge.Traffic.Requests() {
		if changes(route) {
			t.Errorf("the same webhook again: %d times %s", n, route)
		}
	}
	if err := w.stop(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
	s.calm()
}

// What was accepted and not reconciled is reconciled by the next process.
func TestServe_afterARestart(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serve(t, s)
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	s.release("web", "1.1.0")
	w = serve(t, s)
	s.pulls(stagingHead + " open")
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}

func TestServe_health(t *testing.T) {
	t.Parallel()
	w := serve(t, newStory(t, "github", reviewed))
	for _, page := range []string{"/healthz", "/readyz"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+page, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", page, response.StatusCode)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
}
