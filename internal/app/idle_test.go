package app_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mixed follows one image by its list of tags, and one by a moving tag.
func mixed() string {
	return strings.Replace(pushed(), "acme/worker, select: {semver: \">=1\"}", "acme/worker, select: {tag: \"1.0.0\"}", 1)
}

// A run without changes lists the branches once, and sends one request for each image:
// for its tags, or for the digest of the moving one. Once an hour it also checks
// whether the selected one of listed tags is still the same image. It fetches, pushes, and writes
// nothing.
func TestRun_idleRunSendsEachRequestOnce(t *testing.T) {
	t.Parallel()
	git := []string{"GIT info/refs"}
	for kind, want := range map[string][]string{
		"git":    git,
		"github": append(git, "GET /repos/{owner}/{repo}", "GET /repos/{owner}/{repo}/issues/comments", "GET /repos/{owner}/{repo}/pulls"),
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newStory(t, kind, mixed())
			s.cache = t.TempDir()
			s.releaseAndRun("web", "1.1.0")
			s.holds("prod", "1.1.0 1.0.0")
			s.run() // what landed is reconciled once more
			slices.Sort(want)
			s.forge.Traffic.ResetRequests()
			s.runAsks("GET /v2/acme/web/tags/list", "HEAD /v2/acme/worker/manifests/1.0.0")
			if diff := cmp.Diff(want, counted(s.forge.Traffic.Requests())); diff != "" {
				t.Errorf("requests to the forge and to Git (-want +got):\n%s", diff)
			}
			s.clock.set(s.clock.Now().Add(2 * time.Hour))
			s.runAsks("GET /v2/acme/web/tags/list", "HEAD /v2/acme/web/manifests/1.1.0", "HEAD /v2/acme/worker/manifests/1.0.0")
			s.runAsks("GET /v2/acme/web/tags/list", "HEAD /v2/acme/worker/manifests/1.0.0")
		})
	}
}

// A run with a cache requests the digest of a listed tag that is promoted nowhere once an hour, also
// while a pull request is open, so that the run is not idle.
func TestRun_unchangedListsNeedNoDigests(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", chain)
	s.cache = t.TempDir()
	s.releaseAndRun("web", "1.1.0")
	s.pulls(stagingHead + " open")
	lists := []string{"GET /v2/acme/web/tags/list", "GET /v2/acme/worker/tags/list"}
	s.runAsks(append(lists, "HEAD /v2/acme/web/manifests/1.1.0")...) // it is proposed
	s.clock.set(s.clock.Now().Add(2 * time.Hour))
	s.runAsks(append(lists, "HEAD /v2/acme/web/manifests/1.1.0", "HEAD /v2/acme/worker/manifests/1.0.0")...)
	s.runAsks(append(lists, "HEAD /v2/acme/web/manifests/1.1.0")...)
	s.cache = ""
	s.runAsks(append(lists, "HEAD /v2/acme/web/manifests/1.1.0", "HEAD /v2/acme/worker/manifests/1.0.0")...)
}

// runAsks has a run, which sends these requests to the registry.
func (s *story) runAsks(want ...string) {
	s.t.Helper()
	s.registry.Forget()
	s.run()
	if diff := cmp.Diff(want, s.askedOfImages()); diff != "" {
		s.t.Errorf("requests to the registry (-want +got):\n%s", diff)
	}
}

// counted lists the routes, with the number of requests if there is more than one.
func counted(requests map[string]int) []string {
	var lines []string
	for _, route := range slices.Sorted(maps.Keys(requests)) {
		line := route
		if requests[route] > 1 {
			line += fmt.Sprintf(" x%d", requests[route])
		}
		lines = append(lines, line)
	}
	return lines
}

// askedOfImages lists the requests to the registry, except those to log in.
func (w *world) askedOfImages() []string {
	counts := map[string]int{}
	for _, asked := range w.registry.Requests() {
		if asked != "GET /v2/" {
			counts[asked]++
		}
	}
	return counted(counts)
}
