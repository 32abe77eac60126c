package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/api"
	"promoter/internal/app"
	"promoter/internal/decision"
	"promoter/internal/store"
	"promoter/internal/verb"
)

// events is the history of the service, sorted, as "action environment web's tag": the
// clocks of the forge and of the story differ.
func (w *served) events(query api.HistoryQuery) []string {
	w.t.Helper()
	if query.Limit == 0 {
		query.Limit = 100
	}
	history, err := w.client(serveToken).History(w.t.Context(), query)
	if err != nil {
		w.t.Fatal(err)
	}
	return linesOf(history)
}

func linesOf(history api.History) []string {
	lines := make([]string, len(history.Events))
	for i, e := range history.Events {
		line := e.Action + " " + e.Environment
		for _, version := range e.Versions {
			if version.Component == "web" {
				line += " " + version.Tag
			}
		}
		lines[i] = line
	}
	slices.Sort(lines)
	return lines
}

// A state branch that was deleted is restored while a version lands: the status and the history report it, the
// history once.
func TestServe_historyOfARestoredStateBranch(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serve(t, s)
	s.decide(decision.Decision{Verb: verb.Hold, Environment: "prod", Application: "shop", Reason: "incident 7"})
	w.publish("web", "1.1.0") // reads the hold
	s.repo.Git.DeleteBranch("mallory", "promoter/_state")
	w.publish("web", "1.2.0") // lands in dev
	s.holds("dev", "1.2.0 1.0.0")
	if text := s.repo.Git.Run("show", "promoter/_state:prod/shop.json"); !strings.Contains(text, "incident 7") {
		t.Errorf("the hold is not restored: %s", text)
	}
	const want = "promoter/_state: it was deleted"
	var failures []string
	for _, repository := range w.status().Repositories {
		failures = append(failures, repository.Failure)
	}
	if !strings.Contains(fmt.Sprint(failures), want) {
		t.Errorf("the status has %q, want %q", failures, want)
	}
	w.publish("web", "1.3.0")
	history, err := w.client(serveToken).History(t.Context(), api.HistoryQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	history.Events = slices.DeleteFunc(history.Events, func(e api.Event) bool { return e.Action != store.EventIncident })
	if len(history.Events) != 1 || !strings.HasPrefix(history.Events[0].Reason.Message, want) {
		t.Errorf("incidents: %+v, want one with %q", history.Events, want)
	}
}

// The history contains what promoter does, what a user merges, and user decisions, each
// once and with its trigger. A lost database gets back what Git, the forge, and
// promoter/_state contain.
func TestServe_history(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serve(t, s)
	w.publish("web", "1.1.0")
	s.repo.Pulls.Merge("ada", 1, "merge")
	w.closed("merge-1")
	s.repo.Pulls.Close("ada", 2)
	w.closed("close-1")
	want := []string{"landed staging 1.1.0", "opened prod 1.1.0", "opened staging 1.1.0", "pushed dev 1.1.0", "reject prod 1.1.0"}
	if diff := cmp.Diff(want, w.events(api.HistoryQuery{})); diff != "" {
		t.Fatalf("history (-want +got):\n%s", diff)
	}
	history, err := w.client(serveToken).History(t.Context(), api.HistoryQuery{Environment: "prod", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	opened, rejected := eventOf(history, "opened"), eventOf(history, "reject")
	if opened.Delivery == nil || opened.Delivery.Delivery != "merge-1" || opened.Delivery.Receiver != "forge" || opened.PullRequest == nil ||
		opened.PullRequest.Number != 2 || opened.PullRequest.URL == "" || opened.Promotion == "" || opened.Reason == nil || opened.Reason.Rule != "parent" {
		t.Errorf("the opened pull request: %+v", opened)
	}
	if rejected.By != "ada" || rejected.PullRequest == nil || rejected.PullRequest.Number != 2 {
		t.Errorf("the rejection: %+v", rejected)
	}
	history, err = w.client(serveToken).History(t.Context(), api.HistoryQuery{Environment: "staging", Limit: 100})
	if landed := eventOf(history, "landed"); err != nil || landed.PullRequest == nil || landed.PullRequest.Number != 1 || landed.Promotion == "" {
		t.Errorf("the landing: %+v, %v", landed, err)
	}
	w.pages(5)
	w.notify("web:1.1.0")
	w.until("reconciled")
	if diff := cmp.Diff(want, w.events(api.HistoryQuery{})); diff != "" {
		t.Errorf("after another reconciliation (-want +got):\n%s", diff)
	}
	w.stop()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(filepath.Join(s.dir, "data", "promoter.db"+suffix)); err != nil {
			t.Fatal(err)
		}
	}
	w = serve(t, s)
	again := []string{"landed dev 1.1.0", "landed staging 1.1.0", "reject prod 1.1.0"}
	if diff := cmp.Diff(again, w.events(api.HistoryQuery{})); diff != "" {
		t.Errorf("from a database that was lost (-want +got):\n%s", diff)
	}
	w.stop()
	s.historyFromGit(again)
}

// The history names who requested and approved what landed, also when only Git is left.
func TestServe_historyNamesWhoRequestedAndApproved(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", strings.Replace(reviewed, "land: automerge", "land: automerge\n    propose: manual", 1))
	w := serve(t, s)
	w.publish("web", "1.1.0")
	s.repo.Pulls.Merge("ada", 1, "merge")
	w.closed("merge-1")
	s.says("ada", 1, "/promoter promote prod")
	s.wait(time.Minute)
	w.notify("web:1.1.0")
	w.until("opened")
	s.repo.Settings.SetStatus("ci", s.repo.Pulls.Get(2).HeadCommit, "e2e", "success")
	s.repo.Pulls.Approve("bob", 2)
	w.notify("web:1.1.0")
	w.until("merged")
	w.stop()
	w = serve(t, s)
	defer w.stop()
	history, err := w.client(serveToken).History(t.Context(), api.HistoryQuery{Environment: "prod", Limit: 100})
	merged := eventOf(history, "merged")
	if err != nil || merged.RequestedBy != "ada" || strings.Join(merged.ApprovedBy, " ") != "bob" || merged.Unproven != nil {
		t.Errorf("merged: %+v, %v", merged, err)
	}
	opened := connected(t, filepath.Join(s.dir, "served.yaml"), s.secrets(), s.clock.Now)
	query := api.HistoryQuery{Since: s.clock.Now().AddDate(0, -1, 0), Environment: "prod", Limit: 100}
	read, err := app.HistoryFromGit(t.Context(), opened, query, app.RunOptions{})
	landed := eventOf(read.History, "landed")
	if err != nil || landed.RequestedBy != "ada" || strings.Join(landed.ApprovedBy, " ") != "bob" || strings.Join(landed.Unproven, " ") != "approval" {
		t.Errorf("landed: %+v, %v", landed, err)
	}
	if landed.By != "promoter-bot" {
		t.Errorf("landed by %q", landed.By)
	}
}

// An action is in the history and in the metrics when its line is in the log, while the
// reconciliation goes on.
func TestServe_recordsActionsWhenTheyHappen(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	var w *served
	seen := make(chan string, 10)
	s.logged = func(line string) {
		for _, action := range []string{"pushed", "opened"} {
			if !strings.Contains(line, `"msg":"`+action+`"`) {
				continue
			}
			history, err := w.client(serveToken).History(t.Context(), api.HistoryQuery{Limit: 100})
			metrics := w.metrics()
			seen <- fmt.Sprint(linesOf(history), err, strings.Contains(metrics, `promoter_actions_total{action="`+action+`"} 1`))
		}
	}
	w = serve(t, s)
	w.publish("web", "1.1.0")
	w.stop()
	want := []string{"[pushed dev 1.1.0] <nil> true", "[opened staging 1.1.0 pushed dev 1.1.0] <nil> true"}
	if got := []string{<-seen, <-seen}; !slices.Equal(got, want) {
		t.Errorf("meanwhile: %q, want %q", got, want)
	}
}

// eventOf is the only event of an action.
func eventOf(history api.History, act string) api.Event {
	for _, e := range history.Events {
		if e.Action == act {
			return e
		}
	}
	return api.Event{}
}

// pages reads the history one event at a time.
func (w *served) pages(want int) {
	w.t.Helper()
	query, n := api.HistoryQuery{Limit: 1}, 0
	for {
		history, err := w.client(serveToken).History(w.t.Context(), query)
		if err != nil || len(history.Events) != 1 {
			w.t.Fatalf("%+v, %v", history, err)
		}
		if n++; history.Next == "" {
			break
		}
		query.After = history.Next
	}
	if n != want {
		w.t.Errorf("%d pages, want %d", n, want)
	}
}

// historyFromGit reads the history from the repository itself, without a service.
func (s *story) historyFromGit(want []string) {
	s.t.Helper()
	opened := connected(s.t, filepath.Join(s.dir, "served.yaml"), s.secrets(), s.clock.Now)
	query := api.HistoryQuery{Since: s.clock.Now().AddDate(0, -1, 0), Limit: 100}
	read, err := app.HistoryFromGit(s.t.Context(), opened, query, app.RunOptions{})
	if err != nil || len(read.Failures) > 0 {
		s.t.Fatalf("%v, %+v", err, read.Failures)
	}
	if diff := cmp.Diff(want, linesOf(read.History)); diff != "" {
		s.t.Errorf("without a service (-want +got):\n%s", diff)
	}
	query.Environment, query.Component = "staging", "web"
	if read, err = app.HistoryFromGit(s.t.Context(), opened, query, app.RunOptions{}); err != nil || len(read.History.Events) != 1 {
		s.t.Errorf("narrowed: %+v, %v", read.History, err)
	}
}
