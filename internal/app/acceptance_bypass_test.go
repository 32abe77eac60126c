package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"promoter/internal/api"
	"promoter/internal/app"
	"promoter/internal/decision"
	"promoter/internal/verb"
)

const hotfixKey = "hotfix-key-0123456789abcdef0123456789"

// bypassed sets the bypass rules of the server file, and a key of seals.
func (s *story) bypassed(rules string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "server.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	whole, _, _ := strings.Cut(string(text), "\nbypass:\n")
	if rules != "" {
		whole += "\nbypass:\n" + rules
	}
	file := s.write("server.yaml", whole)
	s.server = connected(s.t, file, environ("TOKEN", s.token, "PROMOTER_SEAL_KEY", hotfixKey), s.clock.Now)
}

// soakedProd is a chain whose prod soaks, merges by itself, and is closed at this time.
var soakedProd = strings.ReplaceAll(chain, "after: [staging], land: automerge}",
	"after: {staging: {soak: 24h}}, land: automerge, gates: {windows: [never]}}") +
	"windows:\n  never: {kind: deny, from: 2000-01-01, until: 2100-01-01, timeZone: UTC}\n"

// A hotfix that was in no other environment goes to prod: prod's versions plus this one. The
// environments upstream are shown as behind, and do not take it back.
func TestRun_hotfixToProd_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, soakedProd, func(s *story) {
		s.forge.SetTeam("acme/sre", "ada")
		s.bypassed(`  - {conditions: [soak, windows], environments: [prod], who: ["team:acme/sre"]}` + "\n")
		s.run()
		s.releaseAndRun("web", "1.1.0")
		s.repo.Git.Commit("ada", "main", "Stay", map[string]string{"README.md": "x"})
		s.wait(time.Minute)
		s.release("web", "1.0.1")
		hotfix := decision.Decision{
			Verb: verb.Promote, Environment: "prod", Application: "shop", With: []string{"web:1.0.1"}, Bypass: []string{"soak", "windows"}, Reason: "incident 42",
		}
		s.decideAs("ada", hotfix)
		s.run()
		s.holds("prod", "1.0.1 1.0.0")
		s.holds("staging", "1.0.0 1.0.0")
		message := s.repo.Git.Run("log", "-1", "--format=%B", "main")
		for _, want := range []string{"Promoter-Requested-By: ada\nPromoter-Reason: incident 42\nPromoter-Bypassed: staging soak\nPromoter-Bypassed: windows never\n"} {
			if !strings.Contains(message, want) {
				s.t.Errorf("the merge says %q", message)
			}
		}
		body := s.repo.Pulls.Get(2).Body
		for _, want := range []string{"**Bypassed:** `staging soak`, `windows never` by `ada`: incident 42.", "behind: staging has web 1.0.0"} {
			if !strings.Contains(body, want) {
				s.t.Errorf("the body lacks %q:\n%s", want, body)
			}
		}
		read, err := app.HistoryFromGit(s.t.Context(), s.server, api.HistoryQuery{Since: s.clock.Now().AddDate(0, -1, 0), Environment: "prod", Limit: 10}, app.RunOptions{})
		if landed := eventOf(read.History, "landed"); err != nil || strings.Join(landed.Bypassed, ", ") != "staging soak, windows never" || landed.RequestedBy != "ada" {
			s.t.Errorf("history: %+v, %v", landed, err)
		}
		// An older version upstream does not replace it, and the next release goes the usual way.
		s.because(s.run(), "prod", "waiting: ", "would move back: web 1.0.1 -> 1.0.0")
		s.repo.Pulls.Merge("ada", 1, "merge")
		s.because(s.run(), "prod", "waiting: ", "staging soak")
		s.holds("prod", "1.0.1 1.0.0")
	})
}

// What a user may not bypass has no effect.
func TestRun_bypassWithoutPermission_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, soakedProd, func(s *story) {
		s.bypassed("  - {conditions: [soak], environments: [prod], who: [ada]}\n  - {conditions: [soak, windows], environments: [dev], who: [bob]}\n")
		s.run()
		s.release("web", "1.0.1")
		request := decision.Decision{
			Verb: verb.Promote, Environment: "prod", Application: "shop", With: []string{"web:1.0.1"}, Bypass: []string{"soak", "windows"}, Reason: "incident 42",
		}
		refusedAs := func(who, want string, d decision.Decision) {
			s.t.Helper()
			if _, err := s.recordAs(who, d); err == nil || !strings.Contains(err.Error(), want) {
				s.t.Errorf("as %q: %v, want %q", who, err, want)
			}
		}
		refusedAs("", "--bypass needs a user whom the forge authenticates, and this is unverified: unknown", request)
		refusedAs("bob", "only users named by bypass in the server file may bypass soak of shop in prod", request)
		refusedAs("ada", "only users named by bypass in the server file may bypass windows of shop in prod", request)
		request.Bypass = []string{"soak"}
		without := request
		without.Reason = ""
		refusedAs("ada", "--bypass needs a --reason", without)
		claimed := request
		claimed.As = "ada"
		refusedAs("ada", "and this is unverified: ada", claimed)

		// The right is checked again when it is used.
		s.decideAs("ada", request)
		s.bypassed("")
		s.because(s.run(), "prod", "waiting: ", "staging soak", "not bypassed by ada: only users named by bypass in the server file may bypass soak of shop in prod")
		s.holds("prod", "1.0.0 1.0.0")
	})
}

// Without seals, any user who can push can write a request in the name of another one.
func TestRun_bypassWithoutSeals_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, soakedProd, func(s *story) {
		s.bypassed("  - {conditions: [soak, windows], who: [ada]}\n")
		s.server = connected(s.t, filepath.Join(s.dir, "server.yaml"), environ("TOKEN", s.token), s.clock.Now)
		s.run()
		s.release("web", "1.0.1")
		request := decision.Decision{
			Verb: verb.Promote, Environment: "prod", Application: "shop", With: []string{"web:1.0.1"}, Bypass: []string{"soak", "windows"}, Reason: "incident 42",
		}
		if _, err := s.recordAs("ada", request); err == nil || !strings.Contains(err.Error(), "--bypass needs a seal") {
			s.t.Errorf("recorded: %v", err)
		}
		s.repo.Git.Commit("mallory", "promoter/_state", "Request", map[string]string{"prod/shop.json": `{"schema": 1, "request": {"by": {"host": "` + s.forge.Host() + `", "login": "ada"},
			"at": "` + s.clock.Now().UTC().Format(time.RFC3339) + `", "reason": "x", "with": ["` + s.registry.Host + `/acme/web:1.0.1"], "bypass": ["soak", "windows"]}}`})
		s.because(s.run(), "prod", "waiting: ", "staging soak", "not bypassed by ada: promoter/_state has no seals")
		s.holds("prod", "1.0.0 1.0.0")
	})
}

// A user with the permission bypasses in a comment what keeps a promotion waiting.
func TestRun_bypassInAComment_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, soakedProd, func(s *story) {
		s.bypassed("  - {conditions: [soak, windows], environments: [prod], who: [ada]}\n")
		s.releaseAndRun("web", "1.1.0")
		s.repo.Pulls.Merge("ada", 1, "merge")
		s.because(s.run(), "prod", "waiting: ", "staging soak")
		refused := s.says("bob", 1, "/promoter promote prod --bypass soak,windows incident 42")
		s.run()
		s.reacted(refused, "-1")
		s.replied(1, "only users named by bypass in the server file may bypass soak of shop in prod")
		s.holds("prod", "1.0.0 1.0.0")
		done := s.says("ada", 1, "/promoter promote prod --bypass soak,windows incident 42")
		s.run()
		s.reacted(done, "+1")
		s.holds("prod", "1.1.0 1.0.0")
	})
}

// A rollback in a comment has the bypass of the command line, with the same rules: a user without the permission is
// refused, and with it, the rollback that waits for the end of a freeze is proposed.
func TestRun_rollbackWithBypassInAComment_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, chain, func(s *story) {
		s.bypassed("  - {conditions: [freeze], environments: [staging], who: [ada]}\n")
		s.releaseAndRun("web", "1.1.0")
		s.repo.Pulls.Merge("ada", 1, "merge")
		s.run()
		s.decideAs("ada", decision.Decision{Verb: verb.Freeze, Environment: "staging", Reason: "fair"})
		s.wait(time.Minute)
		plain := s.says("bob", 1, "/promoter rollback slow")
		s.because(s.run(), "staging", "waiting: ", "frozen", "fair")
		s.reacted(plain, "+1")
		refused := s.says("bob", 1, "/promoter rollback --bypass freeze incident 42")
		s.because(s.run(), "staging", "waiting: ", "frozen")
		s.reacted(refused, "-1")
		s.replied(1, "only users named by bypass in the server file may bypass freeze of shop in staging")
		unclear := s.says("ada", 1, "/promoter rollback --bypass soak incident 42")
		s.run()
		s.reacted(unclear, "confused")
		s.wait(time.Minute)
		done := s.says("ada", 1, "/promoter rollback --bypass freeze incident 42")
		s.run()
		s.reacted(done, "+1")
		s.pulls(stagingHead+" merged", prodHead+" merged", stagingHead+" open")
		s.repo.Pulls.Merge("ada", 3, "merge")
		s.run()
		s.holds("staging", "1.0.0 1.0.0")
	})
}
