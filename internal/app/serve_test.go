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
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/database"
	"promoter/internal/serverfile"
	"promoter/internal/telemetry"
)

// served is a service for a story.
type served struct {
	*story
	url     string
	scraped string       // the address of the metrics
	lines   chan string  // of the log
	all     *logged      // lines since the start
	stop    func()       // ends it, which is no error
	db      *database.DB // nil: the test did not open it
}

const (
	serveSecret = "canary-secret-of-the-webhooks"
	serveBadge  = "canarybadge0123456789abcdef0123456789"
)

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
	return serveFile(t, s, o.quiet, s.serverFile("served.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		fmt.Sprintf(`data: %q
poll: %s
repositories: [{forge: forge, name: acme/gitops}]
api: {token: "env:API", badges: {readme: {token: "env:BADGE", repositories: ["**"]}}}
receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}
  forge: {kind: github, secret: "env:HOOK"}
%s`, filepath.Join(s.dir, "data"), o.poll, o.receivers)))
}

// serveFile serves a server file.
func serveFile(t *testing.T, s *story, quiet time.Duration, file string) *served {
	t.Helper()
	build := telemetry.Build{Version: "1.2.3", Commit: "c0ffee"}
	w := s.launch(openService(t, file, s.secrets(), s.clock.Now), nil, slog.LevelInfo, app.ServeOptions{Debounce: quiet, CommitHook: s.around, Build: build})
	w.reconciles()
	return w
}

// secrets is the environment of a service.
func (s *story) secrets() func(string) (string, bool) {
	return environ("TOKEN", s.token, "HOOK", serveSecret, "API", serveToken, "BADGE", serveBadge)
}

// launch starts a service on a database of its own, or on one that the test opened too,
// and does not wait.
func (s *story) launch(opened *serverfile.Server, db *database.DB, level slog.Level, o app.ServeOptions) *served {
	s.t.Helper()
	listener, metrics := s.listens(), s.listens()
	w := &served{story: s, url: "http://" + listener.Addr().String(), scraped: metrics.Addr().String(), lines: make(chan string, 1000), all: &logged{}, db: db}
	o.Listener, o.MetricsListener, o.Log = listener, metrics, slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	ctx, cancel := context.WithCancel(s.t.Context())
	ended, over := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(over)
		if db == nil {
			ended <- app.Serve(ctx, opened, o)
		} else {
			ended <- app.ServeOn(ctx, opened, db, o)
		}
	}()
	w.stop = func() {
		s.t.Helper()
		cancel()
		if err := <-ended; err != nil {
			s.t.Errorf("the service ended with %v", err)
		}
	}
	s.t.Cleanup(func() {
		cancel()
		late := time.After(removeAfter)
		for {
			select {
			case <-w.lines: // it may wait for its log
			case <-over:
				return
			case <-late:
				return
			}
		}
	})
	return w
}

// listens listens on a free port.
func (s *story) listens() net.Listener {
	s.t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	return listener
}

// removeAfter is how long a test waits at its end for its service, which may write to a folder that is removed
// then. One that waits for a host goes on.
const removeAfter = 5 * time.Second

// Write receives a line of the log.
func (w *served) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "canary") {
		w.t.Errorf("a secret is in the log: %s", line)
	}
	if w.logged != nil {
		w.logged(string(line))
	}
	w.all.add(string(line))
	w.lines <- string(line)
	return len(line), nil
}

// patience is how long a test waits for what has to happen. Only a failure takes that
// long, on a slow machine too.
const patience = 10 * time.Minute

// until waits for a message in the log, and returns its line. It drops the lines before:
// two messages can be awaited one after the other only if one activity logs both.
func (w *served) until(message string) string {
	w.t.Helper()
	deadline := time.After(patience)
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

// logged are the lines of a log.
type logged struct {
	mutex sync.Mutex
	lines []string
}

func (l *logged) add(line string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.lines = append(l.lines, line)
}

// first returns the first line with a message and an attribute; empty: there is none.
func (l *logged) first(message, attribute string) string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, `"msg":"`+message+`"`) && strings.Contains(line, attribute) {
			return line
		}
	}
	return ""
}

// ever waits for a message that the service logs at any time after its start, and returns
// its line: also for one that came before or between other messages that the test waited
// for.
func (w *served) ever(message string) string {
	w.t.Helper()
	for deadline := time.After(patience); ; {
		if line := w.all.first(message, ""); line != "" {
			return line
		}
		select {
		case <-w.lines:
		case <-deadline:
			w.t.Fatalf("the log never says %q", message)
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

// send sends a webhook that must be accepted.
func (w *served) send(receiver, body string, headers ...string) {
	w.t.Helper()
	if status := w.post(receiver, body, headers...); status != http.StatusAccepted {
		w.t.Fatalf("a webhook to %s: %d: %s", receiver, status, body)
	}
}

// notify sends the webhook of an image, such as web:1.0.0.
func (w *served) notify(version string) {
	w.t.Helper()
	w.send("images", w.expand(fmt.Sprintf(`{"image": "$R/acme/%s"}`, version)))
}

// reconciles waits until the service has reconciled and is idle: a reconciliation may lead
// to another one.
func (w *served) reconciles() {
	w.t.Helper()
	w.until("reconciled")
	w.rests()
}

// publish releases an image with its webhook, and waits for the reconciliation.
func (w *served) publish(component, tag string) {
	w.t.Helper()
	w.release(component, tag)
	w.notify(component + ":" + tag)
	w.reconciles()
}

// closed is the event of the forge for a pull request that was merged or closed.
func (w *served) closed(id string) {
	w.t.Helper()
	w.send("forge", fmt.Sprintf(`{"action": "closed", "repository": {"id": %d, "full_name": "acme/gitops", "html_url": "%s/acme/gitops"}}`, w.repo.ID(), w.forge.URL()),
		"X-GitHub-Event", "pull_request", "X-GitHub-Delivery", id)
	w.reconciles()
}

// An image is pushed and its webhook arrives: dev has it, and staging is proposed. A
// user merges and the forge sends an event: prod is proposed. A redelivery changes
// nothing, and an image without subscribers leads to no reconciliation.
func TestServe_webhooks(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serve(t, s)
	w.publish("web", "1.1.0")
	s.holds("dev", "1.1.0 1.0.0")
	s.pulls(stagingHead + " open")

	s.repo.Pulls.Merge("ada", 1, "squash")
	w.closed("merge-1")
	s.pulls(stagingHead+" merged", prodHead+" open")

	s.forge.Traffic.ResetRequests()
	w.notify("unknown:1")
	if status := w.post("images", s.expand(`{"image": "$R/acme/web:1.1.0"}`), "X-Signature", "sha256=00"); status != http.StatusUnauthorized {
		t.Errorf("a forged webhook: %d", status)
	}
	w.notify("web:1.1.0")
	w.until("reconciled")
	onlyReads(t, s.forge.Traffic.Requests())
	w.stop()
	s.calm()
}
