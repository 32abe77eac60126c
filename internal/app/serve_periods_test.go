package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A poll in which nothing is new sends one request for each image: for its tags, or for
// the digest of the moving one. A tag that was pushed again with another image is found
// within an hour and one poll, although the list of tags is the same.
func TestServe_pollSendsOneRequestForEachImage(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", mixed())
	w := serveAs(t, s, serving{quiet: -1, poll: "5m"})
	for s.listed("acme/web") == 0 {
		w.until("reconciled")
	}
	w.rests()
	const every, polls = 5 * time.Minute, 11 // in less than an hour
	for lists := s.listed("acme/web"); s.listed("acme/web") == lists; w.rests() {
		w.wait(every / 10)
	}
	w.wait(every / 2) // the turns of the repository are in the middle of the intervals from now on
	poll := func() {
		t.Helper()
		lists := s.listed("acme/web")
		w.wait(every)
		for s.listed("acme/web") == lists {
			w.until("reconciled")
		}
		w.rests()
	}
	w.registry.Forget()
	for range polls {
		poll()
	}
	asked := slices.DeleteFunc(s.askedOfImages(), func(line string) bool {
		return line == "HEAD /v2/acme/web/manifests/1.0.0" // its turn in the hour, once at most
	})
	want := []string{"GET /v2/acme/web/tags/list x11", "HEAD /v2/acme/worker/manifests/1.0.0 x11"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("requests of %d polls (-want +got):\n%s", polls, diff)
	}
	before := s.line("web:1.0.0")
	s.release("web", "1.0.0")
	moved := s.line("web:1.0.0")
	if moved == before {
		t.Fatal("the tag was not moved")
	}
	for range polls + 2 { // an hour and one poll
		poll()
	}
	if files := s.repo.Git.Run("show", "main:dev/shop.yaml"); !strings.Contains(files, moved) {
		t.Errorf("dev has no %s:\n%s", moved, files)
	}
	w.stop()
}

// A version that may be promoted is selected with the digest that its tag has now: one
// that waited for a window is not promoted with the digest that its tag had when it was
// listed.
func TestServe_promotesTheDigestThatTheTagHasNow(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", mixed())
	opens := s.clock.Now().UTC().Add(8 * time.Minute)
	s.edit("ada", "main", ".promoter.yaml", "environments:", fmt.Sprintf(
		"windows: {later: {kind: allow, schedule: '%d %d * * *', duration: 5h}}\nenvironments:", opens.Minute(), opens.Hour()))
	s.edit("ada", "main", ".promoter.yaml", "land: push}", "land: push, gates: {windows: [later]}}")
	w := serveAs(t, s, serving{quiet: -1, poll: "5m"})
	poll := func() {
		t.Helper()
		for s.listed("acme/web") == 0 {
			w.until("reconciled")
		}
		w.registry.Forget()
	}
	poll()
	s.release("web", "1.1.0")
	w.wait(6 * time.Minute)
	poll()
	w.rests()
	s.holds("dev", "1.0.0 1.0.0")
	s.release("web", "1.1.0") // again, with another digest
	w.wait(6 * time.Minute)
	poll()
	w.rests()
	if files, want := s.repo.Git.Run("show", "main:dev/shop.yaml"), s.line("web:1.1.0"); !strings.Contains(files, want) {
		t.Errorf("dev has no %s:\n%s", want, files)
	}
	w.stop()
}
