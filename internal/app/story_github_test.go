package app_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/outcome"
)

// reviewed is the story of the demo with pull requests: dev lands by push, users merge
// into staging, and prod merges automatically with an approval and a green check.
const reviewed = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}}
environments:
  dev: {paths: ["dev/{application}.yaml"], land: push}
  staging: {paths: ["staging/{application}.yaml"], after: [dev]}
  prod:
    paths: ["prod/{application}.yaml"]
    after: [staging]
    land: automerge
    gates: {checks: [e2e], approvals: {count: 1}}
`

// TestRun_theStoryWithPullRequests_github plays it, and counts the cost of each event,
// which docs/performance.md lists.
func TestRun_theStoryWithPullRequests_github(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	s.cache = filepath.Join(s.dir, "cache")
	s.run() // the first clone
	var costs []string
	event := func(name string, want ...outcome.Action) outcome.Report {
		t.Helper()
		s.forge.Traffic.ResetRequests()
		report := s.run()
		costs = append(costs, fmt.Sprintf("| %s | %s |", name, cost(s.forge.Traffic.Requests())))
		if got := actsOf(report); !slices.Equal(got, want) {
			t.Errorf("%s: did %v, want %v", name, got, want)
		}
		return report
	}

	event("nothing new, nothing open")
	s.release("web", "1.1.0")
	s.because(event("a new image: dev is pushed, staging is proposed", outcome.ActionPushed, outcome.ActionOpened), "prod", "same: ")
	s.pulls(stagingHead + " open")
	event("nothing new, one pull request open")
	s.release("web", "1.1.1")
	event("a newer image: dev is pushed, the pull request is refreshed", outcome.ActionPushed, outcome.ActionRefreshed)
	s.repo.Pulls.Merge("ada", 1, "squash")
	event("a user merged: prod is proposed", outcome.ActionOpened)
	s.pulls(stagingHead+" merged", prodHead+" open")
	head := s.repo.Pulls.Get(2).HeadCommit
	s.repo.Settings.SetStatus("ci", head, "e2e", "pending")
	s.because(event("a check is pending, not approved", outcome.ActionUpdated), "prod", "proposed: ")
	s.repo.Settings.SetStatus("ci", head, "e2e", "success")
	event("the check is green, not approved", outcome.ActionUpdated)
	s.repo.Pulls.Approve("bob", 2)
	event("approved: prod is merged", outcome.ActionMerged)
	s.pulls(stagingHead+" merged", prodHead+" merged")
	s.release("web", "1.2.0")
	event("a new image again", outcome.ActionPushed, outcome.ActionOpened)
	s.repo.Pulls.Close("ada", 3)
	report := event("a user closed the pull request")
	s.because(report, "staging", "rejected: ", "ada")
	event("nothing new since then")
	for environment, tags := range map[string]string{"dev": "1.2.0 1.0.0", "staging": "1.1.1 1.0.0", "prod": "1.1.1 1.0.0"} {
		s.holds(environment, tags)
	}
	compareWithDocs(t, "event", costs)
}

// TestRun_gatesHoldUntilAllAreOpen_github merges neither with the approval nor with the
// check alone. An approved version is not replaced by a newer one.
func TestRun_gatesHoldUntilAllAreOpen_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, reviewed, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.repo.Pulls.Merge("ada", 1, "merge")
		s.run()
		s.repo.Pulls.Approve("bob", 2)
		if gates := gatesOf(s.run(), "prod"); gates != "check e2e: waiting, approvals: passed" {
			s.t.Errorf("with the approval alone: %s", gates)
		}
		s.releaseAndRun("web", "1.1.1")
		s.repo.Pulls.Merge("ada", 3, "merge")
		s.because(s.run(), "prod", "proposed: staging had: web 1.0.0 -> 1.1.0")
		s.repo.Settings.SetStatus("ci", s.repo.Pulls.Get(2).HeadCommit, "e2e", "success")
		s.run()
		s.pulls(stagingHead+" merged", prodHead+" merged", stagingHead+" merged", prodHead+" open")
		s.holds("prod", "1.1.0 1.0.0")
		s.repo.Settings.SetStatus("ci", s.repo.Pulls.Get(4).HeadCommit, "e2e", "success")
		if gates := gatesOf(s.run(), "prod"); gates != "check e2e: passed, approvals: waiting" {
			s.t.Errorf("with the check alone: %s", gates)
		}
		s.repo.Pulls.Approve("bob", 4)
		s.run()
		s.holds("prod", "1.1.1 1.0.0")
	})
}

func gatesOf(report outcome.Report, environment string) string {
	var gates []string
	for _, done := range report.Effects {
		if done.Environment.Name == environment {
			for _, gate := range done.Gates {
				gates = append(gates, gate.Name+": "+string(gate.State))
			}
		}
	}
	return strings.Join(gates, ", ")
}

// actsOf lists the actions of a run.
func actsOf(report outcome.Report) []outcome.Action {
	var done []outcome.Action
	for _, d := range report.Effects {
		if d.Action != outcome.ActionNone && d.Step != propose.StepWait {
			done = append(done, d.Action)
		}
	}
	return done
}

// cost describes the requests to Git, the reads, and the writes.
func cost(requests map[string]int) string {
	var git, reads, writes []string
	for _, route := range slices.Sorted(maps.Keys(requests)) {
		words, n := shortRoute(route), requests[route]
		if n > 1 {
			words = fmt.Sprintf("%d × %s", n, words)
		}
		switch {
		case strings.HasPrefix(route, "GIT "):
			git = append(git, words)
		case changes(route):
			writes = append(writes, words)
		default:
			reads = append(reads, words)
		}
	}
	return joined(git) + " | " + joined(reads) + " | " + joined(writes)
}

// shortRoute omits what all routes of a repository have in common.
func shortRoute(route string) string {
	route = strings.TrimPrefix(strings.ReplaceAll(route, "/repos/{owner}/{repo}", ""), "GIT ")
	route = strings.TrimPrefix(strings.Replace(route, " /", " ", 1), "GET ")
	route = strings.ReplaceAll(route, "...}", "}")
	return "`" + cmp.Or(strings.TrimPrefix(route, "GET"), "repository") + "`"
}

func joined(parts []string) string { return cmp.Or(strings.Join(parts, ", "), "none") }

// compareWithDocs compares the counts with the table of the documents that has this title.
func compareWithDocs(t *testing.T, title string, counted []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| "+title+" | Git | reads | writes |\n|---|---|---|---|\n")
	if !found {
		t.Fatalf("docs/performance.md has no table %q for:\n%s", title, strings.Join(counted, "\n"))
	}
	table, _, _ = strings.Cut(table, "\n\n")
	if diff := gocmp.Diff(strings.Split(strings.TrimSpace(table), "\n"), counted); diff != "" {
		t.Errorf("docs/performance.md lists other requests than were counted (-docs +counted):\n%s\n%s", diff, strings.Join(counted, "\n"))
	}
}
