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
		_, err = repo.(scm.Ruled).Rules(t.Context(), "main")
		want(t, "too early", err, fault.Temporary, "object does not exist")
	}
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
