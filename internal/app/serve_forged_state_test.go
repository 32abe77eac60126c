package app_test

import (
	"path/filepath"
	"strings"
	"testing"

	"promoter/internal/connect"
	"promoter/internal/decision"
	"promoter/internal/fault"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// A user who may push ends no hold by writing to promoter/_state, or by deleting it. The
// commands of the operator, who has the key that the service made, do.
func TestServe_forgedStateBranch(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serveAs(t, s, serving{quiet: -1, poll: "5m"})
	operator := connected(t, filepath.Join(s.dir, "served.yaml"), environ("TOKEN", s.token, "API", serveToken, "HOOK", serveSecret), s.clock.Now)
	decide := func(c *connect.Connections, what verb.Verb) error {
		_, err := decision.Record(t.Context(), c, decision.Decision{Verb: what, Environment: "dev", Reason: "incident 42"}, "")
		return err
	}
	held := func() {
		t.Helper()
		s.holds("dev", "1.0.0 1.0.0")
		if text := s.repo.Git.Run("show", state.Branch+":dev/_all.json"); !strings.Contains(text, "incident 42") {
			t.Errorf("the branch has %s", text)
		}
	}
	if err := decide(operator, verb.Hold); err != nil {
		t.Fatal(err)
	}
	s.release("web", "1.1.0")
	w.polled()
	held()

	s.repo.Git.Commit("mallory", state.Branch, "Apply 1 commands from comments", map[string]string{"dev/_all.json": `{"schema": 1}`})
	w.polled()
	held()
	s.repo.Git.DeleteBranch("mallory", state.Branch)
	w.polled()
	held()
	if err := decide(s.server, verb.Resume); fault.KindOf(err) != fault.Unauthorized {
		t.Errorf("resumed without the key: %v", err)
	}
	if err := decide(operator, verb.Resume); err != nil {
		t.Fatal(err)
	}
	w.polled("pushed")
	s.holds("dev", "1.1.0 1.0.0")
	w.stop()
}
