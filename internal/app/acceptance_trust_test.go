package app_test

import (
	"strings"
	"testing"

	"promoter/internal/decision"
	"promoter/internal/verb"

	"promoter/internal/promotion"

	"promoter/internal/state"
)

// Which users and content may affect promoter.

// forged commits files to a branch with the author of promoter.
func (s *story) forged(branch, parent string, files map[string]string, message string) string {
	s.t.Helper()
	s.repo.Git.Commit("mallory", "scratch", "Scratch", nil)
	s.repo.Git.SetHead("mallory", "scratch", parent)
	s.repo.Git.Commit("mallory", "scratch", "Scratch", files)
	commit := s.repo.Git.Run("-c", "user.name=promoter", "-c", "user.email=promoter@noreply.invalid",
		"commit-tree", "scratch^{tree}", "-p", parent, "-m", message)
	s.repo.Git.SetHead("mallory", branch, commit)
	s.repo.Git.DeleteBranch("mallory", "scratch")
	return commit
}

func TestRun_pullRequestOfAForkIsForeign_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.repo.Pulls.Fork("mallory", stagingHead, "main", "Promote shop to staging: web 6.6.6")
		s.repo.Pulls.Fork("mallory", prodHead, "main", "Promote shop to prod: web 6.6.6")
		s.releaseAndRun("web", "1.1.0")
		s.pulls(stagingHead+" open", prodHead+" open", stagingHead+" open")
		s.repo.Pulls.Merge("ada", 3, "merge")
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		s.pulls(stagingHead+" open", prodHead+" open", stagingHead+" merged", prodHead+" merged")
		if pull := s.repo.Pulls.Get(2); len(pull.Comments) > 0 || pull.Merged {
			s.t.Errorf("a stranger's pull request was touched: %+v", pull)
		}
	})
}

func TestRun_forgedBodyDecidesNothing_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		evil := s.image("web", "6.6.6-evil", "evil", workday())
		title := "Promote shop to staging: web 6.6.6-evil"
		body := strings.ReplaceAll(s.repo.Pulls.Get(1).Body, "1.1.0", "6.6.6-evil") + "\n\nPromoter-Environment: staging\nPromoter-Application: shop\n" +
			"Promoter-Image: web=" + s.host + "/acme/web:6.6.6-evil@" + evil + "\n"
		s.repo.Pulls.Edit(1, &title, &body)
		s.run()
		s.repo.Pulls.Merge("ada", 1, "merge")
		s.run()
		s.holds("staging", "1.1.0 1.0.0")
		s.holds("prod", "1.1.0 1.0.0")
	})
}

func TestRun_foreignCommitIsNotMerged_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, gatedProd, func(s *story) {
		head := s.waitingForCheck()
		mine := s.repo.Git.Commit("mallory", prodHead, "More", map[string]string{"evil": "x\n"})
		s.repo.SetCheckRun("ci", mine, "ci", "success")
		s.run()
		s.pulls(stagingHead+" merged", prodHead+" open")
		if s.repo.Git.Head(prodHead) != mine || head == mine {
			s.t.Error("a commit of somebody else was overwritten")
		}
	})
}

// gatedProd merges into prod after a check passed.
var gatedProd = strings.ReplaceAll(chain, "land: automerge}", "land: automerge, gates: {checks: [ci]}}")

// waitingForCheck brings a version to a pull request for prod, and returns its head.
func (s *story) waitingForCheck() string {
	s.t.Helper()
	s.releaseAndRun("web", "1.1.0")
	s.repo.Pulls.Merge("ada", 1, "merge")
	s.run()
	s.pulls(stagingHead+" merged", prodHead+" open")
	s.holds("prod", "1.0.0 1.0.0")
	return s.repo.Pulls.Get(2).HeadCommit
}

// A foreign change in a commit with the author of promoter is found in the tree, and
// overwritten.
func TestRun_foreignTreeWithOurAuthorIsNotMerged_github(t *testing.T) {
	t.Parallel()
	for name, slip := range map[string]func(*story, string) string{
		"one commit with another file": func(s *story, head string) string {
			return s.forged(prodHead, s.repo.Git.Run("rev-parse", head+"^"), map[string]string{
				"prod/shop.yaml": s.manifest("web:1.1.0", "worker:1.0.0"), "evil": "x\n",
			}, s.repo.Git.Run("log", "-1", "--format=%B", head))
		},
		"another image in the file": func(s *story, head string) string {
			s.image("web", "6.6.6-evil", "evil", workday())
			return s.forged(prodHead, s.repo.Git.Run("rev-parse", head+"^"), map[string]string{
				"prod/shop.yaml": s.manifest("web:6.6.6-evil", "worker:1.0.0"),
			}, s.repo.Git.Run("log", "-1", "--format=%B", head))
		},
		"a second commit": func(s *story, head string) string {
			return s.forged(prodHead, head, map[string]string{"evil": "x\n"}, s.repo.Git.Run("log", "-1", "--format=%B", head))
		},
		"a base that is none": func(s *story, head string) string {
			base := s.forged("elsewhere", s.repo.Git.Head("main"), map[string]string{"evil": "x\n"}, "Base")
			return s.forged(prodHead, base, map[string]string{"prod/shop.yaml": s.manifest("web:1.1.0", "worker:1.0.0")},
				s.repo.Git.Run("log", "-1", "--format=%B", head))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onGitHub(t, gatedProd, func(s *story) {
				slipped := slip(s, s.waitingForCheck())
				s.repo.SetCheckRun("ci", slipped, "ci", "success")
				s.run()
				s.holds("prod", "1.0.0 1.0.0")
				head := s.repo.Git.Head(prodHead)
				if head == slipped {
					s.t.Error("what was slipped in still stands")
				}
				s.calm()
				s.repo.SetCheckRun("ci", head, "ci", "success")
				s.run()
				s.holds("prod", "1.1.0 1.0.0")
				if files := s.repo.Git.Run("ls-tree", "--name-only", "main"); strings.Contains(files, "evil") {
					s.t.Errorf("what was slipped in was merged: %s", files)
				}
			})
		})
	}
}

// A user works with the same token.
func TestRun_pullRequestOfASharedTokenIsForeign_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, chain, func(s *story) {
		s.repo.Git.Commit("promoter-bot", "feature", "My work", map[string]string{"feature": "x\n"})
		s.repo.Pulls.Open("promoter-bot", "feature", "main", "My work")
		mine := s.repo.Git.Commit("promoter-bot", stagingHead, "My work on your branch", map[string]string{"staging/shop.yaml": s.manifest("worker:1.0.0")})
		s.repo.Pulls.Open("promoter-bot", stagingHead, "main", "My work on your branch")
		s.releaseAndRun("web", "1.1.0")
		s.pulls("feature open", stagingHead+" open")
		if s.repo.Git.Head(stagingHead) != mine {
			s.t.Error("the work of a person was overwritten")
		}
		if first := s.repo.Pulls.Get(1); len(first.Comments) > 0 {
			s.t.Errorf("comments: %v", first.Comments)
		}
	})
}

func TestRun_configInAPullRequestIsIgnored_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, chain, func(s *story) {
		s.repo.Git.Commit("mallory", "feature", "Push to prod", map[string]string{
			".promoter.yaml": s.expand(strings.ReplaceAll(chain, "land: automerge", "land: push") + "nonsense: true\n"),
		})
		number := s.repo.Pulls.Open("ada", "feature", "main", "Push to prod")
		s.releaseAndRun("web", "1.1.0")
		s.holds("staging", "1.0.0 1.0.0")
		s.holds("prod", "1.0.0 1.0.0")
		s.pulls("feature open", stagingHead+" open")
		if statuses := s.repo.Pulls.Get(number); len(statuses.Comments) > 0 {
			s.t.Errorf("comments: %v", statuses.Comments)
		}
	})
}

// Commit titles of the source are shown, and have no effect.
func TestRun_commitTitlesAreEscaped_github(t *testing.T) {
	t.Parallel()
	config := strings.Replace(chain, "web: {image: $R/acme/web,", "web: {image: $R/acme/web, source: \"$SOURCE\",", 1)
	onceOnGitHub(t, chain, func(s *story) {
		source := s.forge.NewRepository("acme/web", map[string]string{"README": "web\n"})
		source.Settings.SetPrivate(false)
		from := source.Git.Head("main")
		to := source.Git.Commit("mallory", "main", "Fix #1 @acme/everyone <img src=x> --> <!-- promoter:end -->", map[string]string{"README": "new\n"})
		s.sourced("1.0.1", from)
		s.repo.Git.Commit("ada", "main", "Show commits", s.tree(strings.ReplaceAll(config, "$SOURCE", s.forge.Host()+"/acme/web"), "web:1.0.1", "worker:1.0.0"))
		s.sourced("1.1.0", to)
		s.run()
		body := s.repo.Pulls.Get(1).Body
		if !strings.Contains(body, "Fix ") {
			s.t.Fatalf("the commit is not shown:\n%s", body)
		}
		for _, evil := range []string{"#1", "@acme", "> <!-- promoter:end"} {
			if strings.Contains(body, evil) {
				s.t.Errorf("the body holds %q:\n%s", evil, body)
			}
		}
		if strings.Count(body, "<!-- promoter:end -->") != 1 {
			s.t.Errorf("a title ended our part:\n%s", body)
		}
	})
}

// A manual change of the state branch is shown with the name of its author, and passes
// no gate.
func TestRun_handWrittenStateGrantsNothing_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, soaking(chain), (*story).strangers)
}

func TestRun_handWrittenStateGrantsNothing_plain(t *testing.T) {
	t.Parallel()
	onPlain(t, soaking(pushed()), (*story).strangers)
}

func (s *story) strangers() {
	s.decide(decision.Decision{Verb: verb.Hold, Environment: "staging"})
	s.release("web", "1.1.0")
	by := `"by": {"host": "", "login": "mallory"}, "at": "2026-11-18T10:00:00Z"`
	s.repo.Git.Commit("mallory", state.Branch, "By hand", map[string]string{
		"dev/shop.json":  `{"schema": 1, "hold": {` + by + `}}`,
		"prod/shop.json": `{"schema": 1, "request": {` + by + `, "with": ["` + s.host + `/acme/web:1.1.0"]}}`,
	})
	report := s.run()
	s.because(report, "dev", "on hold", "mallory")
	if d := decisionIn(report, "prod"); d.State == promotion.Proposed {
		s.t.Errorf("a request by hand passed the soak: %+v", d)
	}
	s.holds("dev", "1.0.0 1.0.0")
	s.holds("prod", "1.0.0 1.0.0")
}
