package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// The whole promotion of one image: a push to dev, a pull request for staging that a
// user merges, and one for prod that promoter merges.
func TestRun_promotesFromDevToProd_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.calm()
		s.releaseAndRun("web", "1.1.0")
		s.holds("dev", "1.1.0 1.0.0")
		s.pulls(stagingHead + " open")
		s.calm()
		s.repo.Pulls.Merge("ada", 1, "merge")
		s.run()
		s.holds("staging", "1.1.0 1.0.0")
		s.holds("prod", "1.1.0 1.0.0")
		s.pulls(stagingHead+" merged", prodHead+" merged")
		if refs := s.repo.Git.Run("for-each-ref", "refs/heads/promoter/staging", "refs/heads/promoter/prod"); refs != "" {
			s.t.Errorf("branches that served are left: %s", refs)
		}
	})
}

func TestRun_newerVersionRefreshesThePullRequest_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		before := s.repo.Pulls.Get(1)
		s.releaseAndRun("web", "1.2.0")
		after := s.repo.Pulls.Get(1)
		s.pulls(stagingHead + " open")
		if before.HeadCommit == after.HeadCommit || before.Title == after.Title || before.Body == after.Body || !strings.Contains(after.Title, "1.2.0") {
			s.t.Errorf("it was not refreshed: %q, %q", before.Title, after.Title)
		}
		s.holdsOn(stagingHead, "staging", "1.2.0 1.0.0")
	})
}

func TestRun_movedBaseRebuildsOnlyWhenItTouchesTheFiles_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		head := s.repo.Pulls.Get(1).HeadCommit
		s.repo.Git.Commit("ada", "main", "Elsewhere", map[string]string{"README": "hello\n"})
		s.repo.Git.Commit("ada", "main", "Elsewhere again", map[string]string{"README": "hello, world\n"})
		s.calm()
		if s.repo.Pulls.Get(1).HeadCommit != head {
			s.t.Error("it was pushed for a base that moved in other files")
		}
		s.edit("ada", "main", "staging/shop.yaml", "kind: Deployment", "kind: Deployment # ours")
		s.run()
		if text := s.repo.Git.Run("show", stagingHead+":staging/shop.yaml"); s.repo.Pulls.Get(1).HeadCommit == head || !strings.Contains(text, "# ours") {
			s.t.Errorf("it was not rebuilt for a base that moved in its file:\n%s", text)
		}
		s.holdsOn(stagingHead, "staging", "1.1.0 1.0.0")
	})
}

// alone is a config in which prod follows the registry. Its branch is older than the
// history that is read.
const alone = `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
environments:
  prod: {paths: ["prod/{application}.yaml"], land: automerge, gates: {checks: [ci]}}
`

func TestRun_baseOlderThanTheHistory_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, alone, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		head := s.repo.Pulls.Get(1).HeadCommit
		s.repo.Git.Commit("ada", "main", "Elsewhere", map[string]string{"README": "hello\n"})
		s.repo.Git.Commit("ada", "main", "Elsewhere again", map[string]string{"README": "hello, world\n"})
		s.calm()
		s.repo.SetCheckRun("ci", head, "ci", "success")
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		if pull := s.repo.Pulls.Get(1); pull.HeadCommit != head || !pull.Merged {
			s.t.Errorf("it was pushed for a base that moved in other files: %+v", pull)
		}
	})
}

func TestRun_userCommitOnTheBranchIsKept_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		mine := s.edit("ada", stagingHead, "staging/shop.yaml", "kind: Deployment", "kind: Deployment # mine")
		s.run()
		s.releaseAndRun("web", "1.2.0")
		s.pulls(stagingHead + " open")
		if pull := s.repo.Pulls.Get(1); pull.HeadCommit != mine || len(pull.Comments) != 1 || !strings.Contains(pull.Comments[0].Body, "ada") {
			s.t.Errorf("the commit of a user was overwritten, or not reported once: %+v", pull)
		}
	})
}

func TestRun_manualMergeIsRecorded_github(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"merge", "squash", "rebase", "fast-forward", "queue"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			onGitHub(t, soaking(chain), func(s *story) {
				s.releaseAndRun("web", "1.1.0")
				s.wait(3 * 24 * time.Hour) // the time of a commit proves no soak
				s.repo.Pulls.Merge("ada", 1, method)
				s.because(s.run(), "prod", "staging soak: present since")
				s.calm()
				s.wait(58 * time.Minute)
				s.run()
				s.holds("prod", "1.0.0 1.0.0")
				s.wait(3 * time.Minute)
				s.run()
				s.holds("prod", "1.1.0 1.0.0")
				s.pulls(stagingHead+" merged", prodHead+" merged")
			})
		})
	}
}

func TestRun_goneArchivedAndForbiddenRepositories_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, strings.ReplaceAll(chain, "after: [staging],", "after: [staging], branch: env/prod,"), func(s *story) {
		s.because(s.pass().Report, "prod")
		s.repo.Git.SetHead("ada", "env/prod", s.repo.Git.Head("main"))
		s.releaseAndRun("web", "1.1.0")
		s.api("ada", http.MethodPatch, "repos/acme/gitops/pulls/1", `{"base": "env/prod"}`)
		s.run()
		s.calm()
		if comments := s.repo.Pulls.Get(1).Comments; len(comments) != 1 || !strings.Contains(comments[0].Body, "base was changed") {
			s.t.Errorf("comments: %v", comments)
		}
		s.repo.Git.DeleteBranch("ada", "env/prod")
		s.release("web", "1.2.0")
		result := s.pass()
		if words := fmt.Sprint(result.Report.Errors); !result.Failed() || !strings.Contains(words, "no branch env/prod") {
			s.t.Errorf("a base that is gone: %v, %s", result.Err, words)
		}
		s.holds("dev", "1.2.0 1.0.0")
		s.repo.Settings.Rename("deploy")
		if moved := s.pass(); moved.Report.Name != "acme/deploy" || moved.Err != nil {
			s.t.Errorf("a renamed repository: %q, %v", moved.Report.Name, moved.Err)
		}
		s.forge.SetScopes(s.token, "public_repo")
		if lost := s.pass(); !lost.Failed() || lost.Err == nil && lost.Report.Unusable == "" {
			s.t.Errorf("a token without its scope: %+v", lost)
		}
		s.forge.SetScopes(s.token, "repo")
		s.repo.Settings.SetArchived(true)
		if archived := s.pass(); !strings.Contains(archived.Report.Unusable, "archived") {
			s.t.Errorf("an archived repository: %v, %q", archived.Err, archived.Report.Unusable)
		}
	})
}

func TestRun_userEditsOfThePullRequestStay_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		title, body := "Please look at this", "My words first.\n\n"+s.repo.Pulls.Get(1).Body+"\n\nAnd last."
		s.repo.Pulls.Edit(1, &title, &body)
		s.calm()
		s.releaseAndRun("web", "1.2.0")
		pull := s.repo.Pulls.Get(1)
		if pull.Title != title || !strings.HasPrefix(pull.Body, "My words first.") || !strings.HasSuffix(pull.Body, "And last.") {
			s.t.Errorf("what a person wrote is gone: %q\n%s", pull.Title, pull.Body)
		}
		if !strings.Contains(pull.Body, "1.2.0") {
			s.t.Errorf("our part was not refreshed:\n%s", pull.Body)
		}
	})
}

func TestRun_longTextsAreCut_github(t *testing.T) {
	t.Parallel()
	long := fmt.Sprintf("after: [dev], pullRequest: {title: %q, body: %q, labels: [%q, \"päivää, \\\"x\\\"\"]}}",
		strings.Repeat("t{component} ", 40), strings.Repeat("words ä ", 9000), strings.Repeat("label", 12))
	onceOnGitHub(t, strings.ReplaceAll(chain, "after: [dev]}", long), func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		s.calm()
		s.releaseAndRun("web", "1.2.0")
		pull := s.repo.Pulls.Get(1)
		if n := utf8.RuneCountInString(pull.Title); n > 250 || !pull.Open {
			s.t.Errorf("a title of %d characters", n)
		}
		if n := utf8.RuneCountInString(pull.Body); n > 65536 || !strings.Contains(pull.Body, "1.2.0") {
			s.t.Errorf("a body of %d characters, which must tell the version", n)
		}
	})
}

func TestRun_limitOfOpenPullRequests_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, strings.ReplaceAll(chain, "after: [dev]}", "after: [dev], pullRequest: {limit: 3}}"), func(s *story) {
		s.release("web", "1.1.0")
		files := map[string]string{}
		for i := range 200 {
			files[fmt.Sprintf("dev/app%03d.yaml", i)] = s.manifest("web:1.1.0")
			files[fmt.Sprintf("staging/app%03d.yaml", i)] = s.manifest("web:1.0.0")
		}
		s.repo.Git.Commit("ada", "main", "Many", files)
		report := s.run()
		s.pulls("promoter/staging/app000 open", "promoter/staging/app001 open", "promoter/staging/app002 open")
		if words := fmt.Sprint(report.Effects); !strings.Contains(words, " in the queue: 3 of 3 pull requests are open") {
			s.t.Error("the position in the queue is missing")
		}
		s.calm()
		s.repo.Pulls.Merge("ada", 2, "squash")
		s.run()
		s.pulls("promoter/staging/app000 open", "promoter/staging/app001 merged", "promoter/staging/app002 open", "promoter/staging/app003 open")
	})
}

// A pull request belongs to promoter by its branch, its author, and its commit; not by
// its text, which an older release may have written differently.
func TestRun_pullRequestOfAnOlderRelease_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, chain, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		title, body := "Update staging", strings.Replace(s.repo.Pulls.Get(1).Body, "Why: ", "An older form: ", 1)
		s.repo.Pulls.Edit(1, &title, &body)
		s.releaseAndRun("web", "1.2.0")
		s.pulls(stagingHead + " open")
		if pull := s.repo.Pulls.Get(1); !strings.Contains(pull.Body, "1.2.0") || strings.Contains(pull.Body, "older form") || len(pull.Comments) > 0 {
			s.t.Errorf("it was not refreshed: %+v", pull)
		}
		s.holdsOn(stagingHead, "staging", "1.2.0 1.0.0")
	})
}

// Applications that share a file have a pull request each. When one is merged, the other
// one keeps what it wrote.
func TestRun_pullRequestsOfOneFile_github(t *testing.T) {
	t.Parallel()
	onGitHub(t, `version: 1
components:
  web: {image: $R/acme/web, select: {semver: ">=1"}}
  worker: {image: $R/acme/worker, select: {semver: ">=1"}}
environments:
  prod: {paths: ["prod/*.yaml"], applications: {by: component}}
`, func(s *story) {
		s.release("worker", "1.2.0")
		s.releaseAndRun("web", "1.1.0")
		s.pulls("promoter/prod/web open", "promoter/prod/worker open")
		s.holdsOn("promoter/prod/web", "prod", "1.1.0 1.0.0")
		s.holdsOn("promoter/prod/worker", "prod", "1.0.0 1.2.0")
		s.calm()
		s.repo.Pulls.Merge("ada", 1, "squash")
		s.run()
		s.holdsOn("promoter/prod/worker", "prod", "1.1.0 1.2.0")
		s.repo.Pulls.Merge("ada", 2, "merge")
		s.run()
		s.holds("prod", "1.1.0 1.2.0")
		s.pulls("promoter/prod/web merged", "promoter/prod/worker merged")
	})
}
