package gitlab_test

import (
	"testing"

	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/gitlab/gitlabtest"
	"promoter/internal/scm/scmtest"
)

// A service account whose name does not show it is a bot, also in the timeline.
func TestTimeline_serviceAccountIsABot(t *testing.T) {
	t.Parallel()
	b, made := newBench(t, gitlabtest.Options{})
	repo, err := made.Forge.Open(t.Context(), made.Name)
	if err != nil {
		t.Fatal(err)
	}
	made.Git.Commit(t, scmtest.Commit{Branch: "promoter/prod/web", Path: "a.yaml", Content: "image: web:2\n", Message: "Promote"})
	number := made.People.Open(t, gitlabtest.Self, "promoter/prod/web", scmtest.Main, "Promote web")
	made.People.Close(t, scmtest.Robot, number)
	made.People.Reopen(t, scmtest.Ann, number)
	timeline, err := repo.(scm.Timelines).Timeline(t.Context(), number)
	if err != nil || len(timeline) != 2 || !timeline[0].By.Bot || timeline[1].By.Bot {
		t.Errorf("timeline %+v, %v", timeline, err)
	}
	for login, want := range map[string]bool{scmtest.Robot: true, scmtest.Ann: false, "unknown": false} {
		bot, err := repo.(scm.Bots).IsBot(t.Context(), identity.User{Host: b.Host(), Login: login})
		if err != nil || bot != want {
			t.Errorf("%s: %v, %v", login, bot, err)
		}
	}
}
