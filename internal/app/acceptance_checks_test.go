package app_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"promoter/internal/promotion"

	"promoter/internal/reconcile/outcome"
)

func failures(report outcome.Report) error {
	var all []error
	for _, done := range report.Effects {
		all = append(all, done.Err)
	}
	return errors.Join(all...)
}

// written is all references, and the number of writes.
func (s *story) written() string {
	requests := s.forge.Traffic.Requests()
	text := s.repo.Git.Run("for-each-ref", "--format=%(refname) %(objectname)")
	for _, route := range slices.Sorted(maps.Keys(requests)) {
		if changes(route) {
			text += fmt.Sprintf("\n%s %d", route, requests[route])
		}
	}
	return text
}

// holds checks which tags the file of an environment contains on main, "1.1.0 1.0.0".
func (s *story) holds(environment, want string) {
	s.t.Helper()
	s.holdsOn("main", environment, want)
}

func (s *story) holdsOn(branch, environment, want string) {
	s.t.Helper()
	content := s.repo.Git.Run("show", branch+":"+environment+"/shop.yaml")
	var tags []string
	for line := range strings.Lines(content) {
		if _, reference, ok := strings.Cut(strings.TrimSpace(line), s.host+"/acme/"); ok {
			_, version, _ := strings.Cut(reference, ":")
			tag, _, _ := strings.Cut(version, "@")
			tags = append(tags, tag)
		}
	}
	if got := strings.Join(tags, " "); got != want {
		s.t.Errorf("%s on %s holds %s, want %s", environment, branch, got, want)
	}
}

// pulls checks the pull requests, "promoter/staging/shop open".
func (s *story) pulls(want ...string) {
	s.t.Helper()
	var got []string
	for _, pull := range s.repo.Pulls.All() {
		state := "open"
		if pull.Merged {
			state = "merged"
		} else if !pull.Open {
			state = "closed"
		}
		got = append(got, pull.Head+" "+state)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("pull requests:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// decisionIn returns the decision about the application in an environment.
func decisionIn(report outcome.Report, environment string) (found promotion.Decision) {
	for _, d := range report.Decisions {
		if d.Environment == environment && d.Application == "shop" {
			found = d
		}
	}
	return found
}

// because checks the state and the reason of an environment.
func (s *story) because(report outcome.Report, environment string, parts ...string) {
	s.t.Helper()
	d := decisionIn(report, environment)
	got := string(d.State) + ": " + d.Reason.Message
	for _, done := range report.Effects {
		if done.Environment.Name == environment {
			got += "; " + string(done.Step) + ": " + done.Reason.Message
		}
	}
	for _, part := range parts {
		if !strings.Contains(got, part) {
			s.t.Errorf("%s is %q, want %q in it", environment, got, part)
		}
	}
}
