package gitlab_test

import (
	"fmt"
	"strings"
	"testing"

	"promoter/internal/scm"
	"promoter/internal/scm/gitlab/gitlabtest"
	"promoter/internal/scm/scmtest"
)

// An approval has the head that it was given for, on servers that tell its time and
// on those that do not, whether a push takes approvals back or not.
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
				b.project.Approve(scmtest.Ann, made.Number) // takes the first one back
				b.wantReviews(t, made.Number, "ann dismissed before, bob approved here, ann approved here")
				b.project.Unapprove(scmtest.Ann, made.Number)
				b.wantReviews(t, made.Number, "ann dismissed before, bob approved here, ann dismissed here")
			})
		}
	}
}

// wantReviews compares reviews with their heads: that of now, or one before.
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
		case b.project.Request(number).SHA:
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

// A head that comes back is a version of its own: an approval of its first time
// stays one of that head, and one of what was between does not become one.
func TestReviews_headThatComesBack(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	repo := b.open(t)
	made := b.propose(t, repo)
	b.push("image: evil:1\n")
	b.project.Approve(scmtest.Ann, made.Number)
	b.project.SetHead(scmtest.Ann, branch, made.Head.Commit)
	b.wantReviews(t, made.Number, "ann approved before")
}

// A reviewer who is asked again has withdrawn what was asked for.
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

// Bots are known by the name of their account, or by what GitLab says of it; who
// may only read has no say.
func TestReviews_whoCounts(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	made := b.propose(t, b.open(t))
	for _, bot := range []string{"group_7_bot_abc", "release-robot"} {
		b.AddBot(bot)
		b.project.Permit(bot, gitlabtest.Maintainer)
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
		if review.Author.Bot != bot || review.MayWrite != writes || review.State != scm.Approved {
			t.Errorf("%+v", review)
		}
	}
}

// GitLab answers 300 questions about accounts in ten minutes. Whether one is a bot
// does not change, and is asked once; the role is asked by every pass.
func TestReviews_asksOnceWhoIsABot(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	made := b.propose(t, b.open(t))
	b.project.Approve(scmtest.Ann, made.Number)
	b.ResetRequests()
	for range 3 {
		b.wantReviews(t, made.Number, "ann approved here")
	}
	if got := b.Requests(); got["GET /users/{user}"] != 1 || got["GET /projects/{id}/members/all/{user}"] != 3 {
		t.Errorf("requests: %v", got)
	}
}

// Notes of GitLab's own and remarks on lines are no comments.
func TestComments_onlyWhatPeopleSay(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	repo := b.open(t)
	made := b.propose(t, repo)
	b.project.Approve(scmtest.Ann, made.Number)
	b.project.Remark(scmtest.Ann, made.Number, "approved this merge request")
	b.project.Say(scmtest.Bob, made.Number, "approved this merge request")
	said, err := repo.Conversation().Comments(t.Context(), made.Number)
	if err != nil || len(said) != 1 || said[0].Author.Login != scmtest.Bob || said[0].Edited {
		t.Errorf("comments: %+v, %v", said, err)
	}
	b.wantReviews(t, made.Number, "ann approved here, ann commented here") // system notes cannot be forged
}
