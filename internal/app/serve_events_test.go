package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// githubEvent is a recorded payload with another repository: the event of its header,
// and the body.
func githubEvent(t testing.TB, name string, repository map[string]any, changes map[string]any) (event, body string) {
	t.Helper()
	base := filepath.Join("..", "..", "testdata", "payloads", "github", name)
	headers, err := os.ReadFile(base + ".headers")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(headers)) {
		if key, value, _ := strings.Cut(line, ": "); key == "X-GitHub-Event" {
			event = strings.TrimSpace(value)
		}
	}
	recorded, err := os.ReadFile(base + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var payload map[string]any
	if err := json.Unmarshal(recorded, &payload); err != nil {
		t.Fatal(err)
	}
	if of, ok := payload["repository"].(map[string]any); ok {
		maps.Copy(of, repository)
	}
	maps.Copy(payload, changes)
	text, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	return event, string(text)
}

// tell sends an event about the repository of the story, and waits for the
// reconciliation.
func (w *served) tell(name string, changes map[string]any) {
	w.t.Helper()
	w.happened(name, changes)
	w.reconciles()
}

func (w *served) happened(name string, changes map[string]any) {
	w.t.Helper()
	event, body := githubEvent(w.t, name, map[string]any{
		"id": w.repo.ID(), "full_name": w.repo.Settings.Name(), "html_url": w.forge.URL() + "/" + w.repo.Settings.Name(), "default_branch": "main",
	}, changes)
	w.send("forge", body, "X-GitHub-Event", event, "X-GitHub-Delivery", fmt.Sprint(name, time.Now().UnixNano()))
}

// pullAction is what happened to a pull request.
func pullAction(action string, number int) map[string]any {
	return map[string]any{"action": action, "number": number}
}

// Every change on the forge is noticed through its event alone: nothing is polled here.
func TestServe_forgeEvents(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serveAs(t, s, serving{quiet: -1, poll: "30d"})
	w.publish("web", "1.1.0")
	s.pulls(stagingHead + " open")

	s.repo.Pulls.Label(1, "mine")
	w.tell("pull-request-closed", pullAction("labeled", 1))
	s.pulls(stagingHead + " open")
	s.repo.Pulls.Close("ada", 1)
	w.tell("pull-request-closed", pullAction("closed", 1))
	s.pulls(stagingHead + " closed")
	s.repo.Pulls.Reopen("ada", 1) // it counts, because it is later
	w.tell("pull-request-closed", pullAction("reopened", 1))
	s.pulls(stagingHead + " open")
	w.publish("web", "1.2.0")
	s.pulls(stagingHead + " open")
	s.repo.Pulls.Merge("ada", 1, "merge")
	w.tell("pull-request-closed", pullAction("closed", 1))
	before := []string{stagingHead + " merged"}
	s.pulls(append(before, prodHead+" open")...)

	head := s.repo.Pulls.Get(2).HeadCommit
	s.repo.Settings.SetStatus("ci", head, "e2e", "pending")
	w.tell("status", nil)
	s.repo.Pulls.Approve("bob", 2)
	w.tell("pull-request-review", nil)
	s.pulls(append(before, prodHead+" open")...)
	s.repo.Settings.SetStatus("ci", head, "e2e", "success")
	w.tell("status", nil)
	s.pulls(append(before, prodHead+" merged")...)
	s.holds("prod", "1.2.0 1.0.0")
	w.tell("deployment-status", nil)
	w.stop()
	s.calm()
}

// A check run has events of its own.
func TestServe_checkRun(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"check-run", "check-suite"} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "github", strings.Replace(chain, "land: automerge", "land: automerge, gates: {checks: [e2e]}", 1))
			w := serveAs(t, s, serving{quiet: -1, poll: "30d"})
			w.publish("web", "1.1.0")
			s.repo.Pulls.Merge("ada", 1, "squash")
			w.tell("pull-request-closed", pullAction("closed", 1))
			s.repo.SetCheckRun("ci", s.repo.Pulls.Get(2).HeadCommit, "e2e", "success")
			w.tell(event, nil)
			s.pulls(stagingHead+" merged", prodHead+" merged")
			w.stop()
		})
	}
}

// A user pushes to a branch of promoter: promoter leaves it alone, and comments once.
func TestServe_pushToOurBranch(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serveAs(t, s, serving{quiet: -1, poll: "30d"})
	w.publish("web", "1.1.0")
	mine := s.repo.Git.Commit("ada", stagingHead, "Mine", map[string]string{"mine": "x\n"})
	for range 2 {
		w.tell("push", map[string]any{"ref": "refs/heads/" + stagingHead})
		w.tell("pull-request-closed", pullAction("synchronize", 1))
	}
	if one := s.repo.Pulls.Get(1); one.HeadCommit != mine || len(one.Comments) != 1 {
		t.Errorf("the pull request is %+v", one)
	}
	w.stop()
}

// A push to the default branch changes the config, and one to the branch of an
// environment what its children select.
func TestServe_pushes(t *testing.T) {
	t.Parallel()
	branches := strings.NewReplacer(`land: push}`, `land: pr, branch: env/dev}`).Replace(reviewed)
	s := newStory(t, "github", branches)
	s.repo.Git.SetHead("ada", "env/dev", s.repo.Git.Head("main"))
	w := serveAs(t, s, serving{quiet: -1, poll: "30d"})
	w.publish("web", "1.1.0")
	s.pulls("promoter/dev/shop open")
	s.repo.Pulls.Merge("ada", 1, "squash")
	w.tell("push", map[string]any{"ref": "refs/heads/env/dev"})
	s.pulls("promoter/dev/shop merged", stagingHead+" open")

	s.edit("ada", "main", ".promoter.yaml", "after: [dev]}", "after: [dev], land: automerge}")
	w.tell("push", map[string]any{"ref": "refs/heads/main"})
	s.pulls("promoter/dev/shop merged", stagingHead+" merged", prodHead+" open")

	s.edit("ada", "main", ".promoter.yaml", "version: 1", "version: nonsense")
	w.tell("push", map[string]any{"ref": "refs/heads/main"})
	s.edit("ada", "main", ".promoter.yaml", "version: nonsense", "version: 1")
	w.tell("push", map[string]any{"ref": "refs/heads/main"})
	s.repo.Settings.SetStatus("ci", s.repo.Pulls.Get(3).HeadCommit, "e2e", "success")
	s.repo.Pulls.Approve("bob", 3)
	w.tell("pull-request-review", nil)
	s.pulls("promoter/dev/shop merged", stagingHead+" merged", prodHead+" merged")
	w.stop()
}

// A release is published before its image: it waits, with the reason, until the image
// exists. The previous version stays until then.
func TestServe_releaseBeforeItsImage(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", strings.Replace(reviewed, `acme/web, select: {semver: ">=1"}`, `acme/web, select: {release: forge/acme/web}`, 1))
	source := s.forge.NewRepository("acme/web", map[string]string{"README": "web"})
	source.Settings.SetPrivate(false)
	source.Settings.AddRelease("ada", "1.0.0", s.clock.Now().Add(-time.Hour), false, false)
	w := serveAs(t, s, serving{quiet: -1, poll: "30d"})
	source.Settings.AddRelease("ada", "1.1.0", s.clock.Now(), false, false)
	released := func() {
		t.Helper()
		event, body := githubEvent(t, "release", map[string]any{
			"id": source.ID(), "full_name": source.Settings.Name(), "html_url": s.forge.URL() + "/" + source.Settings.Name(),
		}, nil)
		w.send("forge", body, "X-GitHub-Event", event, "X-GitHub-Delivery", fmt.Sprint(time.Now().UnixNano()))
		w.reconciles()
	}
	released()
	s.holds("dev", "1.0.0 1.0.0")
	waits := false
	for _, decision := range s.run().Decisions {
		for _, condition := range decision.Conditions {
			waits = waits || decision.Environment == "dev" && strings.Contains(condition.Name+condition.Value, "1.1.0") && strings.HasPrefix(condition.Reason, "the registry has no image under this tag (yet); waiting for it until ")
		}
	}
	if !waits {
		t.Errorf("it is not reported that the release waits for its image: %+v", s.run().Decisions)
	}
	w.publish("web", "1.1.0")
	s.holds("dev", "1.1.0 1.0.0")
	s.pulls(stagingHead + " open")
	w.stop()
}

// What promoter writes comes back as events. It does not trigger itself for ever:
// reconciliations of its own events write nothing.
func TestServe_ownEventsEnd(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", chain)
	w := serveAs(t, s, serving{quiet: -1, poll: "30d"})
	s.forge.Traffic.ResetRequests()
	w.publish("web", "1.1.0")
	n := 1
	for ; n < 6; n++ {
		events := w.ownEvents()
		if len(events) == 0 {
			break
		}
		for _, event := range events {
			w.happened(event, map[string]any{"ref": "refs/heads/" + stagingHead})
		}
		w.reconciles()
	}
	if n > 2 {
		t.Errorf("its own events led to events %d times", n-1)
	}
	w.stop()
	s.calm()
}

// ownEvents are the events that a forge sends for what was written since the last call.
func (w *served) ownEvents() (events []string) {
	w.t.Helper()
	requests := w.forge.Traffic.Requests()
	w.forge.Traffic.ResetRequests()
	for _, route := range slices.Sorted(maps.Keys(requests)) {
		switch {
		case !changes(route):
		case route == "GIT receive-pack":
			events = append(events, "push")
		case strings.Contains(route, "/statuses/"):
			events = append(events, "status")
		case strings.Contains(route, "/comments"):
			events = append(events, "issue-comment-pull-request")
		case strings.Contains(route, "/pulls"):
			events = append(events, "pull-request-closed")
		default:
			w.t.Errorf("no event is known for %s", route)
		}
	}
	return events
}
