package gitea_test

import (
	"net/http"
	"slices"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/gitea/giteatest"
)

func create(t *testing.T, w *world, draft scm.Draft) (scm.PullRequest, error) {
	t.Helper()
	w.push(t, "image: web:2\n")
	draft.Head, draft.Base, draft.Title = head, "main", "Promote web"
	return w.open(t).PullRequests().Create(t.Context(), draft)
}

// Labels are created once and found again.
func TestCreate_labels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, giteatest.Options{MaxItems: 2})
	made, err := create(t, w, scm.Draft{Labels: []string{"a", "b", "c"}})
	must(t, "create", err)
	w.Traffic.ResetRequests()
	must(t, "edit", w.open(t).PullRequests().Edit(t.Context(), made.Number, scm.Edit{AddLabels: []string{"c", "a"}}))
	if n := w.Traffic.Requests()["POST /repos/{owner}/{repo}/labels"]; n != 0 {
		t.Errorf("%d labels were made again", n)
	}
	if got := w.repo.Pulls.Get(made.Number).Labels; !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("labels %q", got)
	}
}

// A label that may not be created is omitted, and the pull request is opened.
func TestCreate_labelsThatMayNotBeMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo.Pulls.Label(w.repo.Pulls.Open("ann", "main", "main", "x"), "known")
	w.Fail("POST /repos/{owner}/{repo}/labels", http.StatusForbidden, "user should have a permission to write to a repo")
	made, err := create(t, w, scm.Draft{Labels: []string{"unknown", "known"}})
	if err != nil || !slices.Equal(made.Labels, []string{"known"}) {
		t.Errorf("made %+v, %v", made, err)
	}
}

// Gitea would return a 5xx error for an assignee who may not write.
func TestCreate_people(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repo.Settings.Permit("ann", "write")
	w.repo.Settings.Permit("eve", "read")
	w.SetTeam("acme/sre", "ann", self)
	made, err := create(t, w, scm.Draft{
		Assignees: []string{"ANN", "eve", "nobody"}, Reviewers: []string{"ann", "nobody", "team:acme/sre", "team:other/x", self},
	})
	must(t, "create", err)
	pull := w.repo.Pulls.Get(made.Number)
	if !slices.Equal(pull.Assignees, []string{"ann"}) || !slices.Equal(pull.Reviewers, []string{"ann"}) || !slices.Equal(pull.Teams, []string{"sre"}) {
		t.Errorf("assignees %q, reviewers %q, teams %q", pull.Assignees, pull.Reviewers, pull.Teams)
	}
}

// Failures after the pull request is open are returned along with it.
func TestCreate_decorationFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail("GET /repos/{owner}/{repo}/assignees", http.StatusBadGateway, "")
	made, err := create(t, w, scm.Draft{Assignees: []string{"ann"}})
	want(t, "create", err, fault.Temporary, "assignees of pull request 1")
	if made.Number != 1 {
		t.Errorf("made %+v", made)
	}
}

func TestEdit_keepsADraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, err := create(t, w, scm.Draft{AsDraft: true})
	must(t, "create", err)
	title := "Another"
	for range 2 { // known from the creation, then fetched by another reconciliation
		must(t, "edit", w.open(t).PullRequests().Edit(t.Context(), made.Number, scm.Edit{Title: &title}))
		if pull := w.repo.Pulls.Get(made.Number); pull.Title != "WIP: Another" || !pull.Draft {
			t.Errorf("the title is %q", pull.Title)
		}
	}
	ready := "[wip]Ready"
	w.repo.Pulls.Edit(made.Number, &ready, nil)
	repo := w.open(t)
	all, err := repo.PullRequests().Open(t.Context())
	if err != nil || len(all) != 1 || all[0].Title != "Ready" || !all[0].Draft {
		t.Errorf("open: %+v, %v", all, err)
	}
	must(t, "edit", repo.PullRequests().Edit(t.Context(), made.Number, scm.Edit{Title: &title}))
	if pull := w.repo.Pulls.Get(made.Number); pull.Title != "[wip]Another" {
		t.Errorf("the title is %q", pull.Title)
	}
}
