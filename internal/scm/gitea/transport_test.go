package gitea_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/gitea"
	"promoter/internal/scm/scmtest"
	"promoter/internal/secret"
)

const canary = "canary-token"

// against returns a forge that uses a handler as the server.
func against(t *testing.T, path string, handler http.HandlerFunc) *gitea.Forge {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	forge, err := gitea.New(gitea.Options{
		URL: server.URL + path, HTTP: server.Client(), Now: time.Now,
		Token: func(context.Context) (secret.String, error) { return secret.New(canary), nil },
	})
	must(t, "new", err)
	return forge
}

func open(t *testing.T, forge *gitea.Forge) (scm.Repository, error) {
	t.Helper()
	return forge.Open(t.Context(), "acme/deploy")
}

// By default, the library would request the server's version, without the caller's
// context.
func TestOpen_asksForNoVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 {
		w.open(t)
	}
	if got := w.Traffic.Requests(); got["GET /repos/{owner}/{repo}"] != 2 || got["GET /user"] != 1 || w.requests() != 3 {
		t.Errorf("requests: %v", got)
	}
}

// All requests to a server below a path go below that path.
func TestOpen_belowAPath(t *testing.T) {
	t.Parallel()
	var asked []string
	forge := against(t, "/git/", func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		http.NotFound(w, r)
	})
	_, err := open(t, forge)
	want(t, "open", err, fault.NotFound)
	if len(asked) != 1 || asked[0] != "/git/api/v1/repos/acme/deploy" {
		t.Errorf("asked %q", asked)
	}
}

// Right after the first push to an empty repository, Gitea does not find its commits.
func TestRules_afterTheFirstPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	empty := w.NewEmptyRepository("acme/empty")
	empty.Settings.Permit(self, "write")
	repo, err := w.forge.Open(t.Context(), "acme/empty")
	if err != nil || repo.Info().DefaultBranch != "" {
		t.Fatalf("opened %+v, %v", repo, err)
	}
	empty.Git.Commit(self, "main", "Begin", map[string]string{"a": "1\n"})
	for range 2 {
		_, err = repo.PullRequests().Open(t.Context())
		want(t, "pull requests, too early", err, fault.Temporary, "finds no commit in the repository yet")
		_, err = repo.(scm.Ruled).Rules(t.Context(), "main")
		want(t, "too early", err, fault.Temporary, "answered 500")
	}
	_, err = repo.PullRequests().Open(t.Context())
	must(t, "pull requests then", err)
	_, err = repo.(scm.Ruled).Rules(t.Context(), "main")
	must(t, "then", err)
}

// If pull requests are disabled, Gitea returns "not found". Pushes still work.
func TestOpen_withoutPullRequests(t *testing.T) {
	t.Parallel()
	forge := against(t, "", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/user") {
			_, _ = w.Write([]byte(`{"id":1,"login":"promoter-bot"}`))
			return
		}
		if r.URL.Path != "/api/v1/repos/acme/deploy" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"id":7,"full_name":"acme/deploy","default_branch":"main","has_pull_requests":false,"mirror":true,"permissions":{"push":true}}`))
	})
	repo, err := open(t, forge)
	must(t, "open", err)
	if repo.Info().MayPush {
		t.Error("a mirror can be pushed to")
	}
	scmtest.WithoutPullRequests(t, repo)
}

// A fork of the same owner, or a head without a branch, is not a branch of the
// repository.
func TestOpen_headsWithoutABranch(t *testing.T) {
	t.Parallel()
	pulls := `[{"number":1,"html_url":"javascript:alert(1)","head":{"label":"","ref":"refs/pull/1/head","repo_id":7},"base":{"ref":"main","repo_id":7}},
		{"number":2,"head":{"label":"promoter/prod/web","ref":"x","repo_id":-1,"repo":null},"base":{"ref":"main","repo_id":7}},
		{"number":3,"user":{"id":-1,"login":"Ghost"},"head":null,"base":null}]`
	forge := against(t, "", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/user"):
			_, _ = w.Write([]byte(`{"id":1,"login":"promoter-bot"}`))
		case strings.HasSuffix(r.URL.Path, "/pulls"):
			_, _ = w.Write([]byte(pulls))
		default:
			_, _ = w.Write([]byte(`{"id":7,"full_name":"acme/deploy","has_pull_requests":true}`))
		}
	})
	repo, err := open(t, forge)
	must(t, "open", err)
	all, err := repo.PullRequests().Open(t.Context())
	must(t, "list", err)
	for _, pull := range all {
		// URLs of pages in a server's responses are untrusted.
		at := repo.Info().URL + "/pulls/" + strconv.Itoa(pull.Number)
		if pull.Head.Own || pull.Author.Login != "" || pull.URL != at {
			t.Errorf("%+v", pull)
		}
	}
	if len(all) != 3 {
		t.Errorf("%d pull requests", len(all))
	}
}

// A renamed repository is found by its former name. Gitea redirects writes too, with a
// status after which they would be sent as reads: they are not sent, and succeed with
// the next reconciliation.
func TestOpen_renamedWhileItIsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.open(t)
	pull := w.propose(t, repo)
	former := w.repo.Settings.Name()
	w.repo.Settings.Rename("moved")
	if all, err := repo.PullRequests().Open(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("a read: %+v, %v", all, err)
	}
	title := "Another"
	err := repo.PullRequests().Edit(t.Context(), pull.Number, scm.Edit{Title: &title})
	want(t, "an edit", err, fault.Conflict, "renamed or moved")
	_, err = merge(t, repo, pull)
	want(t, "a merge", err, fault.Conflict, "renamed or moved")
	again, err := w.forge.Open(t.Context(), former)
	must(t, "open", err)
	if again.Info().Name != "acme/moved" || again.Info().Key != repo.Info().Key {
		t.Errorf("opened as %+v", again.Info())
	}
	_, err = merge(t, again, pull)
	must(t, "merge", err)
}

// An archived repository refuses pull requests, merges, and comments, and nothing else.
func TestOpen_archived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.open(t)
	pull := w.propose(t, repo)
	w.repo.Settings.SetArchived(true)
	_, err := merge(t, repo, pull)
	want(t, "a merge", err, fault.Unauthorized, "423", "acme/deploy is archived", "read-only")
	want(t, "a comment", repo.Conversation().Say(t.Context(), pull.Number, "<!-- x -->", "Hello"), fault.Unauthorized, "is archived")
	_, err = repo.PullRequests().Create(t.Context(), scm.Draft{Head: "other", Base: "main", Title: "Other"})
	want(t, "a pull request", err, fault.Unauthorized, "is archived")
	must(t, "a status", repo.Signals().SetStatus(t.Context(), pull.Head.Commit, scm.Status{Context: "promoter", State: scm.CheckPassed}))
}
