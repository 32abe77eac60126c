package gitlab_test

import (
	"slices"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/gitlab/gitlabtest"
	"promoter/internal/scm/scmtest"
)

// A draft is marked by a title prefix: it remains a draft when its title changes, and
// users see and change the rest.
func TestEdit_draftStaysOne(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	repo := b.open(t)
	b.push("image: web:2\n")
	made, err := repo.PullRequests().Create(t.Context(), scm.Draft{Head: branch, Base: "main", Title: "Promote web", AsDraft: true})
	if err != nil || made.Title != "Promote web" || !made.Draft {
		t.Fatalf("made %+v, %v", made, err)
	}
	title := "Promote web again"
	for _, one := range []scm.Repository{repo, b.open(t)} { // also if it was not read in this reconciliation
		if err := one.PullRequests().Edit(t.Context(), made.Number, scm.Edit{Title: &title}); err != nil {
			t.Fatal(err)
		}
		if got := b.project.Request(made.Number).Title; got != "Draft: "+title {
			t.Errorf("the title is %q", got)
		}
	}
	b.project.SetDraft(made.Number, false)
	if err := b.open(t).PullRequests().Edit(t.Context(), made.Number, scm.Edit{Title: &title}); err != nil || b.project.Request(made.Number).Title != title {
		t.Errorf("ready: %q, %v", b.project.Request(made.Number).Title, err)
	}
}

// Reviewers and assignees are part of the first request; the free tier allows one.
func TestCreate_people(t *testing.T) {
	t.Parallel()
	for free, want := range map[bool][]string{true: {scmtest.Ann}, false: {scmtest.Ann, scmtest.Bob}} {
		b, _ := newBench(t, gitlabtest.Options{Free: free})
		b.push("image: web:2\n")
		wanted := scm.Draft{Head: branch, Base: "main", Title: "T", Reviewers: []string{"ANN", "nobody", scmtest.Bob, "team:" + scmtest.Team, gitlabtest.Self}}
		wanted.Assignees = wanted.Reviewers
		made, err := b.open(t).PullRequests().Create(t.Context(), wanted)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.project.Request(made.Number); !slices.Equal(got.Reviewers, want) || !slices.Equal(got.Assignees, want) {
			t.Errorf("free %t: reviewers %v, assignees %v", free, got.Reviewers, got.Assignees)
		}
	}
}

// GitLab opens a merge request from a branch that does not exist: it is closed again.
func TestCreate_headless(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	_, err := b.open(t).PullRequests().Create(t.Context(), scm.Draft{Head: branch, Base: "main", Title: "T"})
	if fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "there is no such branch") {
		t.Errorf("got %v", err)
	}
	if all := b.project.Requests(); len(all) != 1 || all[0].State != "closed" {
		t.Errorf("left %+v", all)
	}
}

// Texts are returned as they were written, even if GitLab would execute a part of
// them.
func TestCreate_quickActions(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	repo := b.open(t)
	b.push("image: web:2\n")
	body := "text\n/merge\n/label ~prod\n"
	if _, err := repo.PullRequests().Create(t.Context(), scm.Draft{Head: branch, Base: "main", Title: "T", Body: body}); err != nil {
		t.Fatal(err)
	}
	found, err := repo.PullRequests().Open(t.Context())
	if err != nil || len(found) != 1 || found[0].Body != body || found[0].State != scm.StateOpen {
		t.Errorf("got %+v, %v", found, err)
	}
	if err := repo.Conversation().Say(t.Context(), 1, "<!-- m -->", "<!-- m -->\n/close"); err != nil {
		t.Fatal(err)
	}
}

func TestEdit_reopeningWithoutABranch(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	repo := b.open(t)
	made := b.propose(t, repo)
	b.project.Git.DeleteBranch("ann", branch)
	no := false
	err := repo.PullRequests().Edit(t.Context(), made.Number, scm.Edit{Closed: &no})
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "its branch is gone") {
		t.Errorf("got %v", err)
	}
}

// A former path redirects to the project, also for requests by path.
func TestMoved_followsTheFormerPath(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{Root: "/gitlab"})
	repo := b.open(t)
	former, first := b.project.Settings.Name(), b.project.Git.Head("main")
	second := b.project.Git.Commit("ann", "main", "Next", map[string]string{"b.yaml": "b: 1\n"})
	b.project.Settings.AddRelease("ann", "v1.0.0", scmtest.Ticking()().AddDate(0, 0, -1), false, false)
	b.project.Settings.Rename("other/deeper/and/deeper/deploy")
	got, err := b.forge.Compare(t.Context(), former, first, second, 5)
	if err != nil || len(got.Commits) != 1 {
		t.Errorf("compared %+v, %v", got, err)
	}
	if list, err := b.forge.Releases(t.Context(), former, 5); err != nil || len(list) != 1 {
		t.Errorf("releases %v, %v", list, err)
	}
	made := b.propose(t, repo) // by its ID
	again, err := b.forge.Open(t.Context(), former)
	if err != nil || again.Info().Key != repo.Info().Key || again.Info().Name != "other/deeper/and/deeper/deploy" {
		t.Errorf("opened %+v, %v", again.Info(), err)
	}
	if found, err := again.PullRequests().Open(t.Context()); err != nil || len(found) != 1 || found[0].Number != made.Number {
		t.Errorf("open: %v, %v", found, err)
	}
}

// The account of a project access token is always recognized as a bot.
func TestOpen_tokenOfAProject(t *testing.T) {
	t.Parallel()
	b, _ := newBench(t, gitlabtest.Options{})
	const bot = "project_5001_bot_1f2e3d"
	b.AddBot(bot)
	b.project.Settings.Permit(bot, gitlabtest.Developer)
	b.token = b.Token(bot, "api", "write_repository")
	repo := b.open(t)
	if self := repo.Info().Self; self.Login != bot || !self.Bot || !repo.Info().MayPush {
		t.Errorf("info is %+v", repo.Info())
	}
	if made := b.propose(t, repo); !made.Author.Same(repo.Info().Self) || !made.Author.Bot {
		t.Errorf("author %+v", made.Author)
	}
}
