package gitlab_test

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/scm"
	"promoter/internal/scm/gitlab/gitlabtest"
	"promoter/internal/scm/scmtest"
)

// An approval has the head for which it was given, on servers with and without
// approval times, whether or not a push revokes approvals.
func TestReviews_approvalsBeforeTheLastPush(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]gitlabtest.Options{"with times": {}, "without times": {Old: true}} {
		for _, reset := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, reset %t", name, reset), func(t *testing.T) {
				t.Parallel()
				b, _ := newBench(t, options)
				b.project.Set(func(s *gitlabtest.Settings) { s.ResetApprovals = reset })
				repo := b.open(t)
				made := b.propose(t, repo)
				b.project.Approve(scmtest.Ann, made.Number)
				b.wantReviews(t, made.Number, "ann approved here")
				b.push("image: web:3\n")
				state := "approved"
				if reset {
					state = "dismissed"
				}
				b.wantReviews(t, made.Number, "ann "+state+" before")
				b.project.Approve(scmtest.Bob, made.Number)
				b.wantReviews(t, made.Number, "ann "+state+" before, bob approved here")
				b.project.Approve(scmtest.Ann, made.Number) // revokes the first one
				b.wantReviews(t, made.Number, "ann dismissed before, bob approved here, ann approved here")
				b.project.Unapprove(scmtest.Ann, made.Number)
				b.wantReviews(t, made.Number, "ann dismissed before, bob approved here, ann dismissed here")
			})
		}
	}
}

// wantReviews compares reviews with their heads: the current one, or a previous one.
func (b *bench) wantReviews(t *testing.T, number int, want string) {
	t.Helper()
	found, err := b.open(t).Signals().Reviews(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, review := range found {
		where := "before"
		switch review.Commit {
		case b.project.Request(number).HeadCommit:
			where = "here"
		case "":
			where = "nowhere"
		}
		told = append(told, fmt.Sprintf("%s %s %s", review.Author.Login, review.State, where))
	}
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("reviews:\n%s, want\n%s", got, want)
	}
}

// A head that is restored is a new version: an approval of its first version remains
// one of that head, and one of a version in between does not become one.
func TestReviews_headThatComesBack(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	repo := b.open(t)
	made := b.propose(t, repo)
	b.push("image: evil:1\n")
	b.project.Approve(scmtest.Ann, made.Number)
	b.project.Git.SetHead(scmtest.Ann, branch, made.Head.Commit)
	b.wantReviews(t, made.Number, "ann approved before")
}

// A reviewer who is asked for another review has withdrawn the change request.
func TestReviews_objections(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	repo := b.open(t)
	made := b.propose(t, repo)
	b.project.RequestChanges(scmtest.Ann, made.Number)
	b.wantReviews(t, made.Number, "ann changes requested here")
	b.project.AskAgain(scmtest.Ann, made.Number)
	b.wantReviews(t, made.Number, "ann dismissed here")
}

// Bots are recognized by the name of their account, or by GitLab's API; a user with
// read access only does not count.
func TestReviews_whoCounts(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	made := b.propose(t, b.open(t))
	for _, bot := range []string{"group_7_bot_abc", "release-robot"} {
		b.AddBot(bot)
		b.project.Settings.Permit(bot, gitlabtest.Maintainer)
		b.project.Approve(bot, made.Number)
	}
	for _, who := range []string{scmtest.Eve, scmtest.Ann, gitlabtest.Self} {
		b.project.Approve(who, made.Number)
	}
	found, err := b.open(t).Signals().Reviews(t.Context(), made.Number)
	if err != nil || len(found) != 5 {
		t.Fatalf("got %+v, %v", found, err)
	}
	for _, review := range found {
		bot := strings.Contains(review.Author.Login, "_bot_") || review.Author.Login == "release-robot"
		writes := review.Author.Login == scmtest.Ann || review.Author.Login == gitlabtest.Self
		if review.Author.ID == "" || review.Author.Bot != bot || review.MayWrite != writes || review.State != scm.Approved {
			t.Errorf("%+v", review)
		}
	}
}

// GitLab allows 300 requests about accounts in ten minutes. Whether one is a bot does
// not change and is queried once; the role is queried by every reconciliation.
func TestReviews_asksOnceWhoIsABot(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	made := b.propose(t, b.open(t))
	b.project.Approve(scmtest.Ann, made.Number)
	b.Traffic.ResetRequests()
	for range 3 {
		b.wantReviews(t, made.Number, "ann approved here")
	}
	if got := b.Traffic.Requests(); got["GET /users/{user}"] != 1 || got["GET /projects/{id}/members/all/{user}"] != 3 {
		t.Errorf("requests: %v", got)
	}
}

// System notes and remarks on lines are not comments.
func TestComments_onlyWhatPeopleSay(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	repo := b.open(t)
	made := b.propose(t, repo)
	b.project.Approve(scmtest.Ann, made.Number)
	b.project.Remark(scmtest.Ann, made.Number, "approved this merge request")
	b.project.Pulls.Comment(scmtest.Bob, made.Number, "approved this merge request")
	said, err := repo.Conversation().Comments(t.Context(), made.Number)
	if err != nil || len(said) != 1 || said[0].Author.Login != scmtest.Bob || said[0].Edited {
		t.Errorf("comments: %+v, %v", said, err)
	}
	b.wantReviews(t, made.Number, "ann approved here, ann commented here") // system notes cannot be forged
}
