package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"promoter/internal/decision"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/verb"
)

// Commits of users that claim to be promotions: with the trailers, the name, and the email of
// promoter.

// claiming is a message whose trailers claim that versions landed in shop of an environment.
func (s *story) claiming(environment string, versions ...string) string {
	s.t.Helper()
	snapshot := promotion.Snapshot{}
	for _, version := range versions {
		parsed, err := image.Parse(s.line(version))
		if err != nil {
			s.t.Fatal(err)
		}
		component, _, _ := strings.Cut(version, ":")
		snapshot[component] = promotion.Pinned{Repository: parsed.Repository, Version: image.Version{Tag: parsed.Tag, Digest: parsed.Digest}}
	}
	message := "Promote shop to " + environment + "\n"
	for _, trailer := range promotion.Trailers(environment, map[string]promotion.Snapshot{"shop": snapshot}, nil) {
		message += "\n" + trailer.Key + ": " + trailer.Value
	}
	return message
}

// directPush and fastForward bring a commit with the author of promoter to main, squash one
// of the forge with the same trailers.
func (s *story) directPush(files map[string]string, message string) {
	s.t.Helper()
	s.forged("main", s.repo.Git.Head("main"), files, message)
}

func (s *story) fastForward(files map[string]string, message string) {
	s.t.Helper()
	first := s.forged("feature", s.repo.Git.Head("main"), map[string]string{"README": "work\n"}, "Work")
	last := s.forged("feature", first, files, message)
	s.repo.Git.SetHead("mallory", "main", last)
	s.repo.Git.DeleteBranch("mallory", "feature")
}

func (s *story) squash(files map[string]string, message string) {
	s.t.Helper()
	s.repo.Git.Commit("bob", "feature", "Work", files)
	number := s.repo.Pulls.Open("bob", "feature", "main", "Work")
	body, err := json.Marshal(map[string]string{"merge_method": "squash", "commit_title": "Work", "commit_message": message})
	if err != nil {
		s.t.Fatal(err)
	}
	s.api("ada", http.MethodPut, fmt.Sprintf("repos/acme/gitops/pulls/%d/merge", number), string(body))
	s.repo.Git.DeleteBranch("bob", "feature")
}

// arrival is a way to main.
type arrival = func(s *story, files map[string]string, message string)

// claims checks the note about a false claim.
func (s *story) claims(report outcome.Report, environment, want string) {
	s.t.Helper()
	for _, note := range decisionIn(report, environment).Notes {
		if note.Rule == promotion.RuleFalseClaim && strings.Contains(note.Message, want) {
			return
		}
	}
	s.t.Errorf("the notes about %s are %v, want %q", environment, decisionIn(report, environment).Notes, want)
}

// Forged trailers of a version that never landed: it is not reverted, so that it is still
// promoted, and it is none to roll back to.
func (s *story) forgedTrailers(arrive arrival) {
	s.releaseAndRun("web", "1.1.0")
	s.release("web", "1.3.0-rc.1")
	s.release("web", "1.2.0")
	arrive(s, map[string]string{"README": "typo\n"}, s.claiming("dev", "web:1.2.0", "worker:1.0.0"))
	arrive(s, map[string]string{"README": "typo again\n"}, s.claiming("dev", "web:1.3.0-rc.1", "worker:1.0.0"))
	s.claims(s.run(), "dev", "claims to be the promotion of web 1.3.0-rc.1 to shop in dev, but its files have web 1.1.0: it counts as a change by a user")
	s.holds("dev", "1.2.0 1.0.0")
	s.releaseAndRun("web", "1.2.1")
	s.decide(decision.Decision{Verb: verb.Rollback, Environment: "dev"})
	s.run()
	s.holds("dev", "1.2.0 1.0.0")
}

func TestRun_forgedTrailersByDirectPush_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) { s.forgedTrailers((*story).directPush) })
}

func TestRun_forgedTrailersByDirectPush_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, pushed(), func(s *story) { s.forgedTrailers((*story).directPush) })
}

func TestRun_forgedTrailersBySquash_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) { s.forgedTrailers((*story).squash) })
}

func TestRun_forgedTrailersByFastForward_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) { s.forgedTrailers((*story).fastForward) })
}

func TestRun_forgedTrailersByFastForward_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, pushed(), func(s *story) { s.forgedTrailers((*story).fastForward) })
}

// What a commit with the name of promoter changes besides versions makes it a user's. Its
// versions were there nevertheless, so a rollback returns to them.
func (s *story) moreThanVersions() {
	s.releaseAndRun("web", "1.1.0")
	s.release("web", "1.2.0")
	s.directPush(map[string]string{"dev/shop.yaml": s.manifest("web:1.2.0", "worker:1.0.0") + "hostNetwork: true\n"},
		s.claiming("dev", "web:1.2.0", "worker:1.0.0"))
	s.release("web", "1.3.0")
	report := s.pass().Report
	s.claims(report, "dev", `has the committer of promoter, and changes more than versions in "dev/shop.yaml"`)
	s.holds("dev", "1.3.0 1.0.0")
	s.decide(decision.Decision{Verb: verb.Rollback, Environment: "dev"})
	s.run()
	s.holds("dev", "1.2.0 1.0.0")
}

func TestRun_moreThanVersionsUnderOurName_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, (*story).moreThanVersions)
}

func TestRun_moreThanVersionsUnderOurName_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, pushed(), (*story).moreThanVersions)
}

// A revert is a user decision, whatever it is called.
func (s *story) revertedUnderOurName() {
	s.releaseAndRun("web", "1.1.0")
	s.holds("dev", "1.1.0 1.0.0")
	s.wait(time.Minute)
	s.directPush(map[string]string{"dev/shop.yaml": s.manifest("web:1.0.0", "worker:1.0.0")}, s.claiming("dev", "web:1.0.0", "worker:1.0.0"))
	s.because(s.run(), "dev", "reverted", "web 1.1.0 was here before and was reverted")
	s.wait(2 * time.Hour)
	s.run()
	s.holds("dev", "1.0.0 1.0.0")
	s.holds("staging", "1.0.0 1.0.0")
	s.holds("prod", "1.0.0 1.0.0")
	s.releaseAndRun("web", "1.2.0")
	s.holds("dev", "1.2.0 1.0.0")
}

func TestRun_revertUnderOurName_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, strings.ReplaceAll(chain, "after: [dev]}", "after: {dev: {soak: 1h}}}"), (*story).revertedUnderOurName)
}

func TestRun_revertUnderOurName_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, strings.ReplaceAll(pushed(), "after: [dev],", "after: {dev: {soak: 1h}},"), (*story).revertedUnderOurName)
}

// A version in a parent that select does not admit goes no further, until a user requests it
// by name.
func (s *story) outsideOfThePolicy(arrive arrival) {
	s.release("web", "evil")
	arrive(s, map[string]string{"staging/shop.yaml": s.manifest("web:evil", "worker:1.0.0")}, s.claiming("staging", "web:evil", "worker:1.0.0"))
	s.decide(decision.Decision{Verb: verb.Hold, Environment: "staging"})
	s.because(s.run(), "prod", "waiting", "web evil: select does not admit this version", "promoter promote --to prod --app shop --with "+s.line("web:evil"))
	s.holds("prod", "1.0.0 1.0.0")
	s.decide(decision.Decision{Verb: verb.Promote, Environment: "prod", Application: "shop", With: []string{s.line("web:evil")}})
	s.run()
	s.holds("prod", "evil 1.0.0")
}

func TestRun_versionOutsideOfThePolicy_github(t *testing.T) {
	t.Parallel()
	for name, arrive := range map[string]arrival{"direct push": (*story).directPush, "squash": (*story).squash, "fast-forward": (*story).fastForward} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onGitHub(t, chain, func(s *story) { s.outsideOfThePolicy(arrive) })
		})
	}
}

func TestRun_versionOutsideOfThePolicy_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, pushed(), func(s *story) { s.outsideOfThePolicy((*story).directPush) })
}

// A pipeline that writes tags into a parent is followed, as long as select admits them.
func TestRun_versionInsideOfThePolicy_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, pushed(), func(s *story) {
		s.release("web", "1.1.0")
		s.edit("ada", "main", "dev/shop.yaml", s.line("web:1.0.0"), s.line("web:1.1.0"))
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
	})
}
