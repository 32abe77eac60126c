package app_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/app"
)

// permitted opens the server file again, with permissions.
func (s *story) permitted(permissions string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "server.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.server = connected(s.t, s.write("server.yaml", string(text)+"\npermissions:\n"+permissions), environ("TOKEN", s.token), s.clock.Now)
}

// says comments on a pull request, and waits until a run reads the comment.
func (s *story) says(who string, number int, text string) int64 {
	s.wait(time.Second)
	id := s.repo.Pulls.Comment(who, number, text)
	s.wait(2 * time.Second)
	return id
}

// reacted checks the reactions of promoter to a comment.
func (s *story) reacted(id int64, want ...string) {
	s.t.Helper()
	var by []string
	for _, one := range want {
		by = append(by, one+" promoter-bot")
	}
	if got := s.repo.Pulls.Reactions(id); !slices.Equal(got, by) {
		s.t.Errorf("the reactions are %v, want %v", got, by)
	}
}

// replied checks the comment of promoter that replies to commands on a pull request.
func (s *story) replied(number int, parts ...string) {
	s.t.Helper()
	var found []string
	for _, c := range s.repo.Pulls.Get(number).Comments {
		if c.Author == "promoter-bot" && strings.Contains(c.Body, "promoter: answer") {
			found = append(found, c.Body)
		}
	}
	if len(found) > 1 || len(found) == 0 && len(parts) > 0 {
		s.t.Fatalf("#%d has %d answers", number, len(found))
	}
	for _, part := range parts {
		if !strings.Contains(found[0], part) {
			s.t.Errorf("the answer lacks %q:\n%s", part, found[0])
		}
	}
}

// TestRun_comments_github plays commands in comments: users with permission control
// promotions, others do not, and no gate is bypassed.
func TestRun_comments_github(t *testing.T) {
	t.Parallel()
	asking := strings.Replace(reviewed, "land: automerge", "land: automerge\n    propose: manual\n    newer: queue", 1)
	onGitHub(t, asking, func(s *story) {
		s.forge.SetTeam("acme/sre", "ada")
		s.permitted(`  - {verbs: [promote], environments: [prod], who: ["team:acme/sre"]}` + "\n")
		s.releaseAndRun("web", "1.1.0")
		held := s.says("bob", 1, "Wait.\n\n/promoter hold the cart is empty")
		forged, edited := s.says("mallory", 1, "/promoter resume"), s.says("ada", 1, "/promoter resume")
		s.wait(time.Second)
		s.repo.Pulls.Reword(edited, "/promoter resume all")
		s.because(s.run(), "staging", "waiting: ", "on hold", "bob", "the cart is empty")
		s.reacted(held, "+1")
		s.reacted(forged, "-1")
		s.reacted(edited)
		if log := s.repo.Git.Run("log", "--format=%s", "promoter/_state"); !strings.Contains(log, "Hold shop in staging: the cart is empty") {
			s.t.Errorf("the state says %q", log)
		}
		resumed := s.says("bob", 1, "/promoter resume")
		s.run()
		s.reacted(resumed, "+1")

		s.repo.Pulls.Merge("ada", 1, "squash")
		s.because(s.run(), "prod", "waiting: ", "propose is manual")
		refused := s.says("bob", 1, "/promoter promote prod")
		s.run()
		s.reacted(refused, "-1")
		s.replied(1, "only users named by permissions in the server file may promote shop in prod")
		s.pulls(stagingHead + " merged")
		asked := s.says("ada", 1, "/promoter promote prod")
		s.run()
		s.reacted(asked, "+1")
		s.replied(1, "`shop` in `prod` is *proposed*", "| `approvals` | waiting |")
		s.pulls(stagingHead+" merged", prodHead+" open")
		s.repo.Pulls.Approve("ada", 2) // the approval of the requesting user does not count
		s.repo.Settings.SetStatus("ci", s.repo.Pulls.Get(2).HeadCommit, "e2e", "success")
		s.run()
		s.holds("prod", "1.0.0 1.0.0")
		explained := s.says("bob", 2, "/promoter explain")
		s.run()
		s.reacted(explained, "+1")
		s.replied(2, "`check e2e` | passed", "`approvals` | waiting", "- web in prod: 1.0.0; 1.1.0 comes next")
		s.repo.Pulls.Approve("bob", 2)
		s.run()
		s.holds("prod", "1.1.0 1.0.0")
		if message := s.repo.Git.Run("log", "-1", "--format=%B", "main"); !strings.Contains(message, "\nPromoter-Requested-By: ada\nPromoter-Approved-By: bob\n") {
			s.t.Errorf("the merge says %q", message)
		}
	})
}

// The state branch is deleted, and nothing remembers it: commands that promoter answered
// are not applied again.
func TestRun_commentsOfALostStateBranch_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, reviewed, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		rejected := s.says("ada", 1, "/promoter reject it leaks")
		s.because(s.run(), "staging", "rejected: ")
		s.reacted(rejected, "+1")
		s.repo.Git.DeleteBranch("mallory", "promoter/_state")
		result := s.pass()
		if errs := fmt.Sprint(result.Report.Errors); len(result.Report.Errors) != 1 || !strings.Contains(errs, "commands in comments that promoter has answered (1)") {
			s.t.Errorf("errors: %s", errs)
		}
		held := s.says("ada", 1, "/promoter hold")
		s.repo.Pulls.React("bob", held, "+1")
		s.because(s.run(), "staging", "on hold")
		if got := s.repo.Pulls.Reactions(held); !slices.Equal(got, []string{"+1 bob", "+1 promoter-bot"}) {
			s.t.Errorf("reactions: %v", got)
		}
	})
}

// Comments in an archived repository are ignored; later, the recent ones are applied.
func TestRun_archivedRepositoryIsIgnored_github(t *testing.T) {
	t.Parallel()
	onceOnGitHub(t, reviewed, func(s *story) {
		s.releaseAndRun("web", "1.1.0")
		held := s.says("ada", 1, "/promoter hold")
		s.repo.Settings.SetArchived(true)
		if result := s.pass(); !strings.Contains(result.Report.Unusable, "archived") {
			s.t.Errorf("%+v", result)
		}
		s.repo.Settings.SetArchived(false)
		s.reacted(held)
		s.because(s.run(), "staging", "on hold")
		s.reacted(held, "+1")
	})
}

// commented is the webhook of GitHub for a new comment.
func (s *story) commented(number int, id int64, body string) string {
	return fmt.Sprintf(`{"action": "created", "issue": {"number": %d, "pull_request": {}}, "comment": {"id": %d, "body": %q}, "repository": {"id": %d, "full_name": "acme/gitops", "html_url": %q}}`,
		number, id, body, s.repo.ID(), s.forge.URL()+"/acme/gitops")
}

// A comment is applied when its webhook arrives, and without one with the next poll.
// The webhook alone decides nothing: a comment that does not exist has no effect.
func TestServe_comment(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serveAs(t, s, serving{quiet: -1, poll: "5m"})
	w.publish("web", "1.1.0")
	post := func(number int, id int64, body string) {
		t.Helper()
		w.send("forge", s.commented(number, id, body), "X-GitHub-Event", "issue_comment", "X-GitHub-Delivery", fmt.Sprint("comment-", id))
		w.reconciles()
	}
	post(1, 4711, "/promoter hold")
	s.replied(1)
	s.wait(time.Second)
	forged := s.repo.Pulls.Comment("ada", 1, "Hello")
	s.repo.Pulls.Reword(forged, "/promoter hold") // in the same second, which only the GraphQL API reports
	s.forge.Fail("POST /graphql", http.StatusForbidden, "no")
	post(1, forged, "Hello")
	s.reacted(forged, "-1")
	s.replied(1, "the comment was changed after it was posted")
	s.wait(time.Second)
	helped := s.repo.Pulls.Comment("ada", 1, "/promoter help")
	post(1, helped, "/promoter help")
	s.reacted(helped, "+1")
	s.replied(1, "here you may use hold, resume, reject, unreject, promote dev, promote staging, promote prod, refresh")
	lost := s.says("ada", 1, "/promoter reject it leaks")
	w.wait(6 * time.Minute)
	w.until("closed")
	w.until("reconciled")
	s.reacted(lost, "+1")
	s.pulls(stagingHead + " closed")
	w.stop()
	s.calm()
}

// The same on GitLab: a note on a merge request.
func TestRun_comments_gitlab(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	s, lab, project := newGitLabStory(t, "")
	s.releaseAndRun("web", "1.1.0")
	s.wait(time.Second)
	project.Pulls.Comment("mallory", 1, "/promoter reject mine is better")
	project.Pulls.Comment("ada", 1, "/promoter hold the cart is empty")
	project.Pulls.Comment("ada", 1, "/promoter explain")
	s.because(s.run(), "staging", "waiting: ", "on hold", "ada", "the cart is empty")
	var answers []string
	for _, note := range project.Request(1).Comments {
		if note.Author == "promoter-bot" && strings.Contains(note.Body, "promoter: answer") {
			answers = append(answers, note.Body)
		}
	}
	if len(answers) != 1 || !strings.Contains(answers[0], "is *waiting*: on hold by ada") {
		t.Errorf("answered %q", answers)
	}
	s.wait(time.Second)
	project.Pulls.Comment("ada", 1, "/promoter resume")
	s.because(s.run(), "staging", "proposed: ")
	lab.Traffic.ResetRequests()
	s.run()
	onlyReads(t, lab.Traffic.Requests())
}

// And on Gitea, where prod is promoted from the merged pull request of staging.
func TestRun_comments_gitea(t *testing.T) {
	t.Parallel()
	app.AnotherForge(t)
	s := newGiteaStory(t, strings.Replace(reviewed, "land: automerge", "land: automerge\n    propose: manual\n    newer: queue", 1))
	s.repo.Settings.Permit("promoter-bot", "admin") // only then Gitea shows the permissions of others
	s.releaseAndRun("web", "1.1.0")
	s.repo.Pulls.Merge("ada", 1, "squash")
	s.because(s.run(), "prod", "propose is manual")
	s.wait(time.Second)
	refused, asked := s.repo.Pulls.Comment("mallory", 1, "/promoter promote prod"), s.repo.Pulls.Comment("ada", 1, "/promoter promote prod")
	s.because(s.run(), "prod", "proposed: ")
	for id, want := range map[int64]string{refused: "-1 promoter-bot", asked: "+1 promoter-bot"} {
		if got := s.repo.Pulls.Reactions(id); !slices.Equal(got, []string{want}) {
			t.Errorf("the reactions are %v, want %s", got, want)
		}
	}
	s.run()
	before := s.writes()
	s.run()
	if after := s.writes(); after != before {
		t.Errorf("the run after that wrote %d times", after-before)
	}
}
