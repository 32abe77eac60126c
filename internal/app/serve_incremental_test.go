package app_test

import (
	"strings"
	"testing"
)

// Between polls, an event leads to decisions about the applications that it touches. What is stored
// about the others stays.
func TestServe_decidesAboutTouchedApplications(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serveAs(t, s, serving{quiet: -1, poll: "30d"})
	w.publish("web", "1.1.0")
	s.pulls(stagingHead + " open")
	w.tell("pull-request-closed", pullAction("labeled", 1))
	w.rests()
	w.stop()
	if text := w.all.first("reconciled", "touched"); text == "" {
		t.Error("no reconciliation was incremental")
	}
	for _, line := range w.all.lines {
		if strings.Contains(line, "kept decisions are made again") {
			t.Error(line)
		}
	}
}
