package gitlab

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/glob"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
	"promoter/internal/secret"
)

// gitlabtest behaves like the real server; these tests define each response
// literally, including invalid ones.

const canary = "glpat-canary7f3a"

// wired returns a forge whose server has scripted responses, by "METHOD PATH".
func wired(t *testing.T, script map[string]http.HandlerFunc) *Forge {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route := r.Method + " " + strings.TrimPrefix(r.URL.EscapedPath(), "/api/v4")
		if answer := script[route]; answer != nil {
			answer(w, r)
			return
		}
		t.Errorf("asked for %s", route)
	}))
	t.Cleanup(server.Close)
	forge, err := New(Options{
		URL: server.URL, HTTP: server.Client(), Now: time.Now,
		Token: func(context.Context) (secret.String, error) { return secret.New(canary), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return forge
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const projectJSON = `{"id":42,"path_with_namespace":"acme/deploy","default_branch":"main","web_url":"https://evil.example.com/x",
"http_url_to_repo":"https://evil.example.com/x.git","permissions":{"project_access":{"access_level":30},"group_access":null}}`

// opened returns a project with additional responses.
func opened(t *testing.T, script map[string]http.HandlerFunc) scm.Repository {
	t.Helper()
	script["GET /projects/acme%2Fdeploy"] = says(200, projectJSON)
	script["GET /user"] = says(200, `{"id":1,"username":"promoter"}`)
	repo, err := wired(t, script).Open(t.Context(), "acme/deploy")
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func TestNew_URLs(t *testing.T) {
	t.Parallel()
	for url, want := range map[string][2]string{
		"":                                  {"gitlab.com", "https://gitlab.com/api/v4/"},
		"https://GitLab.example.com/":       {"gitlab.example.com", "https://GitLab.example.com/api/v4/"},
		"https://git.example.com:8443/lab/": {"git.example.com:8443", "https://git.example.com:8443/lab/api/v4/"},
	} {
		options := Options{URL: url, HTTP: http.DefaultClient, Now: time.Now, Token: func(context.Context) (secret.String, error) { return secret.String{}, nil }}
		forge, err := New(options)
		if err != nil || forge.host != want[0] || forge.api.BaseURL().String() != want[1] {
			t.Errorf("%q: %v, %v", url, forge, err)
		}
	}
}

// For an empty project, GitLab returns the name of a branch that does not exist yet.
func TestOpen_emptyProject(t *testing.T) {
	t.Parallel()
	forge := wired(t, map[string]http.HandlerFunc{
		"GET /projects/acme%2Fdeploy": says(200, `{"id":42,"path_with_namespace":"acme/deploy","default_branch":"main","empty_repo":true}`),
		"GET /user":                   says(200, `{"id":1,"username":"promoter"}`),
	})
	repo, err := forge.Open(t.Context(), "acme/deploy")
	if err != nil || repo.Info().DefaultBranch != "" {
		t.Errorf("opened %+v, %v", repo, err)
	}
}

// If merge requests are disabled, GitLab refuses to list them. Pushes still work.
func TestOpen_withoutMergeRequests(t *testing.T) {
	t.Parallel()
	forge := wired(t, map[string]http.HandlerFunc{
		"GET /projects/acme%2Fdeploy": says(200, `{"id":42,"path_with_namespace":"acme/deploy","merge_requests_access_level":"disabled"}`),
		"GET /user":                   says(200, `{"id":1,"username":"promoter"}`),
	})
	repo, err := forge.Open(t.Context(), "acme/deploy")
	if err != nil {
		t.Fatal(err)
	}
	scmtest.WithoutPullRequests(t, repo)
}

func TestOpen_anAnswerLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	info := opened(t, map[string]http.HandlerFunc{}).Info()
	if strings.Contains(info.CloneURL+info.URL, "evil") || !strings.HasSuffix(info.CloneURL, "/acme/deploy.git") || !info.MayPush {
		t.Errorf("info is %+v", info)
	}
	forge := wired(t, map[string]http.HandlerFunc{
		"GET /projects/acme%2Fdeploy": says(200, `{"id":42,"path_with_namespace":"../../evil"}`),
		"GET /user":                   says(200, `{"id":1,"username":"promoter"}`),
	})
	if _, err := forge.Open(t.Context(), "acme/deploy"); fault.KindOf(err) != fault.Temporary {
		t.Errorf("got %v", err)
	}
}

func TestOpen_refusesNames(t *testing.T) {
	t.Parallel()
	forge := wired(t, map[string]http.HandlerFunc{})
	for _, name := range []string{"acme/../deploy", "acme//b", "acme/" + strings.Repeat("a/", 30) + "b", "acme/" + strings.Repeat("a", 256)} {
		if _, err := forge.Open(t.Context(), name); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Responses that no tier of GitLab would send.
func TestOpenPulls_oddAnswers(t *testing.T) {
	t.Parallel()
	repo := opened(t, map[string]http.HandlerFunc{
		"GET /projects/42/merge_requests": says(200, `[{"iid":7,"state":"opened","source_project_id":null,"target_project_id":42,"sha":null,
"author":null,"description":"text of a stranger","created_at":null,"labels":null}]`),
	})
	found, err := repo.PullRequests().Open(t.Context())
	if err != nil || len(found) != 1 || found[0].Head.Own || found[0].Body != "" || found[0].Author.Login != "" {
		t.Errorf("got %+v, %v", found, err)
	}
}

// Untrusted users may open and close many merge requests from forks, with our branch
// names. They do not hide ours.
func TestClosed_manyOfForks(t *testing.T) {
	t.Parallel()
	const strangers = 600
	repo := opened(t, map[string]http.HandlerFunc{
		"GET /projects/42/merge_requests": func(w http.ResponseWriter, r *http.Request) {
			size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
			page, _ := strconv.Atoi(r.URL.Query().Get("page"))
			first, list := (max(page, 1)-1)*size, []string{}
			for i := first; i < min(first+size, strangers+1); i++ {
				from := 7
				if i == strangers {
					from = 42
				}
				list = append(list, fmt.Sprintf(`{"iid":%d,"state":"closed","source_branch":"b","source_project_id":%d,"target_project_id":42}`, 1000-i, from))
			}
			if first+size <= strangers {
				w.Header().Set("X-Next-Page", strconv.Itoa(max(page, 1)+1))
			}
			_, _ = io.WriteString(w, "["+strings.Join(list, ",")+"]")
		},
	})
	closed, err := repo.PullRequests().Closed(t.Context(), "b", 1)
	if err != nil || len(closed) != 1 || closed[0].Number != 1000-strangers {
		t.Errorf("closed: %+v, %v", closed, err)
	}
}

// GitLab's patterns of protected branches are those of glob.MatchName.
func TestProtectedBranches_match(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, branch string
		want            bool
	}{
		{"main", "main", true},
		{"main", "main2", false},
		{"env/*", "env/prod", true},
		{"env/*", "env/eu/prod", true},
		{"*", "a/b", true},
		{"*-stable", "1-0-stable", true},
		{"[a]", "a", false},
		{"a?", "ab", false},
		{`a\b`, `a\b`, true},
	} {
		if got := glob.MatchName(test.pattern, test.branch); got != test.want {
			t.Errorf("%s covers %s: %t", test.pattern, test.branch, got)
		}
	}
}
