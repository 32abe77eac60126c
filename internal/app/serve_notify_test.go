package app_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
	"promoter/internal/doctor"
	"promoter/internal/serverfile"

	"github.com/google/go-cmp/cmp"
)

// notified notifies a program of everything and a chat of pull requests and landings, and a
// destination of another tenant.
const notified = `notify:
  - {on: [version, waiting, proposed, landed], to: program}
  - {on: [proposed, landed], to: chat}
  - {on: [landed], to: theirs}
` + reviewed

// hookKey signs the webhooks of notifications.
const hookKey = "canary-key-of-the-notifications!"

// services are a local program and a local Mattermost server.
type services struct {
	*httptest.Server
	fail  chan int    // statuses of the next responses
	calls chan string // what was received
}

func newServices(t *testing.T) *services {
	t.Helper()
	s := &services{fail: make(chan int, 100), calls: make(chan string, 100)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		select {
		case status := <-s.fail:
			w.WriteHeader(status)
			return
		default:
		}
		if r.URL.Path == "/hook" {
			mac := hmac.New(sha256.New, []byte(hookKey))
			mac.Write([]byte(r.Header.Get("Webhook-Id") + "." + r.Header.Get("Webhook-Timestamp") + "." + string(body)))
			if r.Header.Get("Webhook-Signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			var event struct {
				Type string
				Data struct {
					Environment string
					Versions    []struct{ From, To string }
					Reason      struct{ Rule string }
					PullRequest struct{ Number int }
				}
			}
			_ = json.Unmarshal(body, &event)
			s.calls <- fmt.Sprintf("%s %s %s -> %s %s #%d", event.Type, event.Data.Environment, event.Data.Versions[0].From, event.Data.Versions[0].To, event.Data.Reason.Rule, event.Data.PullRequest.Number)
			return
		}
		if r.Header.Get("Authorization") != "Bearer canary-bot" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var post struct {
			ID, Message string
		}
		_ = json.Unmarshal(body, &post)
		headline, _, _ := strings.Cut(post.Message, "\n")
		s.calls <- r.Method + " " + post.ID + ": " + strings.NewReplacer("`", "", "*", "").Replace(headline)
		w.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprintf(w, `{"id": "post-%d"}`, len(headline))
	}))
	t.Cleanup(s.Close)
	return s
}

// file returns the destinations of a server file.
func (s *services) file(host string) string {
	return fmt.Sprintf(`notify:
  destinations:
    program: {repositories: ["%[1]s/acme/*"], webhook: {url: "%[2]s/hook", secret: "env:HOOK_KEY", insecure: true}}
    chat: {repositories: ["%[1]s/acme/*"], mattermost: {server: "%[2]s", token: "env:BOT", channel: releases, insecure: true}}
    theirs: {repositories: ["%[1]s/other/*"], webhook: {url: "%[2]s/hook", secret: "env:HOOK_KEY", insecure: true}}
`, host, s.URL)
}

func (s *services) secrets(of *story) func(string) (string, bool) {
	return environ("TOKEN", of.token, "HOOK", serveSecret, "API", serveToken, "BOT", "canary-bot", "HOOK_KEY", "whsec_"+base64.StdEncoding.EncodeToString([]byte(hookKey)))
}

// receives waits for requests, in any order, and fails at others.
func (s *services) receives(t *testing.T, want ...string) {
	t.Helper()
	wanted := map[string]int{}
	for _, one := range want {
		wanted[one]++
	}
	for range want {
		select {
		case got := <-s.calls:
			if wanted[got]--; wanted[got] < 0 {
				t.Errorf("received %q, want one of %q", got, want)
			}
		case <-time.After(patience):
			t.Fatalf("not received: %v", wanted)
		}
	}
}

// Each event is sent once, also after a restart and without the database; the message in a chat is
// updated; and a destination of another tenant gets nothing.
func TestServe_notifies(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", notified)
	receiver := newServices(t)
	file := s.serverFile("served.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		fmt.Sprintf(`data: %q
poll: 1h
url: https://promoter.example.com
repositories: [{forge: forge, name: acme/gitops}]
api: {token: "env:API"}
receivers:
  images: {kind: generic, secret: "env:HOOK", header: X-Signature}
  forge: {kind: github, secret: "env:HOOK"}
%s`, filepath.Join(s.dir, "data"), receiver.file(s.forge.Host())))
	start := func() *served {
		w := s.launch(openService(t, file, receiver.secrets(s), s.clock.Now), nil, 0, app.ServeOptions{Debounce: -1, CommitHook: s.around})
		w.reconciles()
		return w
	}
	w := start()
	receiver.fail <- http.StatusServiceUnavailable // the first message is sent again
	w.publish("web", "1.1.0")
	receiver.receives(t,
		"promotion.landed dev 1.0.0 -> 1.1.0 newer #0", "promotion.version staging 1.0.0 -> 1.1.0  #1", "promotion.proposed staging 1.0.0 -> 1.1.0 parent #1",
		"POST : web 1.0.0 -> 1.1.0 landed in dev (shop)", "POST : web 1.0.0 -> 1.1.0 is proposed for staging (shop)",
	)
	s.repo.Pulls.Merge("ada", 1, "merge")
	w.closed("merge-1")
	receiver.receives(t,
		"promotion.landed staging 1.0.0 -> 1.1.0  #1", "PUT post-57: web 1.0.0 -> 1.1.0 landed in staging (shop)",
		"promotion.version prod 1.0.0 -> 1.1.0  #2", "promotion.proposed prod 1.0.0 -> 1.1.0 parent #2", "POST : web 1.0.0 -> 1.1.0 is proposed for prod (shop)",
	)
	status := w.status()
	var sent []string
	for _, one := range status.Notifications {
		sent = append(sent, fmt.Sprint(one.Destination, " ", one.Waiting, " ", one.Failed, " ", !one.SentAt.IsZero(), " ", one.Error))
	}
	if diff := cmp.Diff([]string{"chat 0 0 true ", "program 0 0 true ", "theirs 0 0 false "}, sent); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if failure := status.Repositories[0].Failure; failure != `notify: there is no destination "theirs" that this repository may use` {
		t.Errorf("the repository has the failure %q", failure)
	}
	w.stop()
	w = start()
	w.stop()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(filepath.Join(s.dir, "data", "promoter.db"+suffix)); err != nil {
			t.Fatal(err)
		}
	}
	w = start()
	w.publish("web", "1.2.0")
	receiver.receives(t,
		"promotion.landed dev 1.1.0 -> 1.2.0 newer #0", "promotion.version staging 1.1.0 -> 1.2.0  #3", "promotion.proposed staging 1.1.0 -> 1.2.0 parent #3",
		"POST : web 1.1.0 -> 1.2.0 landed in dev (shop)", "POST : web 1.1.0 -> 1.2.0 is proposed for staging (shop)",
	)
	w.stop()
	if len(receiver.calls) > 0 {
		t.Errorf("also received: %s", <-receiver.calls)
	}
}

// Without a database, a run sends what it did itself, once, and an error is only a note.
func TestRun_notifies(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", notified)
	receiver := newServices(t)
	file := s.serverFile("run.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		"repositories: [{forge: forge, name: acme/gitops}]\n"+receiver.file(s.forge.Host()))
	connections := connected(t, file, receiver.secrets(s), s.clock.Now)
	const unusable = `notify: there is no destination "theirs" that this repository may use`
	run := func(options app.RunOptions, want ...string) {
		t.Helper()
		var notes []string
		options.Note = func(note string) { notes = append(notes, note) }
		results, err := app.Run(t.Context(), connections, options)
		if err != nil || results[0].Failed() {
			t.Fatalf("%v %+v", err, results)
		}
		if diff := cmp.Diff(want, notes); diff != "" {
			t.Errorf("notes (-want +got):\n%s", diff)
		}
	}
	s.release("web", "1.1.0")
	run(app.RunOptions{DryRun: true})
	run(app.RunOptions{}, unusable)
	run(app.RunOptions{}, unusable)
	receiver.receives(t,
		"promotion.landed dev 1.0.0 -> 1.1.0 newer #0", "promotion.proposed staging 1.0.0 -> 1.1.0 parent #1",
		"POST : web 1.0.0 -> 1.1.0 landed in dev (shop)", "POST : web 1.0.0 -> 1.1.0 is proposed for staging (shop)",
	)
	if len(receiver.calls) > 0 {
		t.Errorf("also received: %s", <-receiver.calls)
	}
	s.release("web", "1.2.0")
	for range 4 {
		receiver.fail <- http.StatusForbidden
	}
	failed := "of " + s.forge.Host() + "/acme/gitops: "
	run(app.RunOptions{}, unusable,
		"notify chat about shop in staging "+failed+"Mattermost responded 403 Forbidden", "notify program about shop in staging "+failed+"webhook responded 403 Forbidden",
		"notify chat about shop in dev "+failed+"Mattermost responded 403 Forbidden", "notify program about shop in dev "+failed+"webhook responded 403 Forbidden",
	)
}

// doctor checks each destination without a message, and sends one only with its name.
func TestDoctor_destinations(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", notified)
	receiver := newServices(t)
	file := s.serverFile("doctor.yaml", fmt.Sprintf(`forge: {kind: github, url: "%s", insecure: true, token: "env:TOKEN"}`, s.forge.URL()),
		fmt.Sprintf("data: %q\nrepositories: [{forge: forge, name: acme/gitops}]\n", t.TempDir())+receiver.file(s.forge.Host()))
	found := checked(t, file, receiver.secrets(s), s.clock.Now)
	for _, want := range []string{
		"ok destination chat: Mattermost shows the channel to the bot", "ok destination program: signs with its secret", "ok destination theirs: signs with its secret",
		`warn repository acme/gitops: there is no destination "theirs" that this repository may use`,
	} {
		if !strings.Contains(found, want) {
			t.Errorf("%q is wanted in\n%s", want, found)
		}
	}
	if got := <-receiver.calls; got != "GET : " || len(receiver.calls) > 0 {
		t.Errorf("received %q and %d more", got, len(receiver.calls))
	}
	options := serverfile.Options{WritePace: -1, Config: file, Env: receiver.secrets(s), Now: s.clock.Now}
	if _, err := doctor.Check(t.Context(), options, nil, "program"); err != nil {
		t.Fatal(err)
	}
	receiver.receives(t, "GET : ", "promotion.proposed staging 1.4.1 -> 1.4.2 test #0")
	if _, err := doctor.Check(t.Context(), options, nil, "typo"); err == nil || !strings.Contains(err.Error(), `no destination "typo"`) {
		t.Errorf("err = %v", err)
	}
	found = checked(t, file, environ("TOKEN", s.token, "BOT", "canary-wrong", "HOOK_KEY", "canary-weak"), s.clock.Now)
	for _, want := range []string{"fail destination chat: Mattermost responded 401 Unauthorized", "fail destination program: webhook: the secret is not whsec_"} {
		if !strings.Contains(found, want) || strings.Contains(found, "canary") {
			t.Errorf("%q is wanted in\n%s", want, found)
		}
	}
}
