package github

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm"
)

var (
	_ scm.Forge    = (*Forge)(nil)
	_ scm.Comparer = (*Forge)(nil)
	_ scm.Releases = (*Forge)(nil)
)

func TestNew_URLs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ url, api, host, endpoint string }{
		{"", "", "github.com", "https://api.github.com/"},
		{"https://GitHub.com/", "", "github.com", "https://api.GitHub.com/"},
		{"https://acme.ghe.com", "", "acme.ghe.com", "https://api.acme.ghe.com/"},
		{"https://github.example.com", "", "github.example.com", "https://github.example.com/api/v3/"},
		{"https://github.example.com:8443/", "", "github.example.com:8443", "https://github.example.com:8443/api/v3/"},
		{"", "http://127.0.0.1:4000", "github.com", "http://127.0.0.1:4000/"},
		{"http://127.0.0.1:4000", "http://127.0.0.1:4000/api/v3", "127.0.0.1:4000", "http://127.0.0.1:4000/api/v3/"},
	} {
		options := newWire(t).options()
		options.URL, options.API = test.url, test.api
		forge, err := New(options)
		if err != nil {
			t.Fatal(err)
		}
		if forge.host != test.host || forge.api.BaseURL.String() != test.endpoint {
			t.Errorf("%q, %q is %s by %s", test.url, test.api, forge.host, forge.api.BaseURL)
		}
	}
}

func TestNew_refusesAPIs(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"github.com", "https://user:canary@github.com", "https://github.com?a=canary", "https://can\x7fary"} {
		options := newWire(t).options()
		options.API = bad
		if _, err := New(options); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The config of the forge determines where the credential is sent, and which
// permissions a repository has; no response can change it.
func TestOpen_anAnswerLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	w.on("GET "+repoPath, says(200, strings.ReplaceAll(repositoryJSON, "https://github.com/", "https://evil.example/")))
	info := w.open().Info()
	if info.CloneURL != "https://github.com/acme/deploy.git" || info.URL != "https://github.com/acme/deploy" || info.Key != "github.com/42" {
		t.Errorf("got %+v", info)
	}
}

func TestOpen_permissionsNotTold(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	w.on("GET "+repoPath, says(200, strings.Replace(repositoryJSON, `,"permissions":{"push":true}`, "", 1)))
	if info := w.open().Info(); !info.MayPush {
		t.Errorf("got %+v", info)
	}
}

func TestOpen_refuses(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	forge := w.forge()
	w.on("GET "+repoPath, says(404, `{"message":"Not Found"}`, "X-Accepted-OAuth-Scopes: repo", "X-OAuth-Scopes: gist"))
	_, err := forge.Open(t.Context(), "acme/deploy")
	checkFault(t, err, fault.NotFound, "repository acme/deploy: GitHub answered 404: Not Found: the token lacks the scope repo (it has gist)")
	for _, odd := range []string{`{}`, `{"id":1}`, `{"id":1,"full_name":"../.."}`, `{"id":-1,"full_name":"a/b"}`} {
		w.on("GET "+repoPath, says(200, odd))
		_, err := forge.Open(t.Context(), "acme/deploy")
		checkFault(t, err, fault.Temporary, "describes no repository")
	}
	w.on("GET "+repoPath, says(200, repositoryJSON))
	w.on("GET /user", says(403, `{"message":"Resource not accessible by integration"}`))
	_, err = w.forge().Open(t.Context(), "acme/deploy")
	checkFault(t, err, fault.Unauthorized, "the account of the token", "not accessible by integration")
}

func TestOpenPulls_forksAreTold(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	pulls := w.open().PullRequests()
	fork := strings.Replace(pullJSON(8, ""), `"repo":{"id":42}},"base"`, `"repo":{"id":43}},"base"`, 1)
	gone := strings.Replace(pullJSON(9, ""), `"repo":{"id":42}},"base"`, `"repo":null},"base"`, 1)
	ghost := strings.Replace(pullJSON(10, `,"labels":[{"name":"a"}]`), `"user":{"login":"promoter","type":"User"}`, `"user":null`, 1)
	robot := strings.Replace(pullJSON(11, ""), `"login":"promoter","type":"User"`, `"login":"renovate[bot]","type":"Bot"`, 1)
	w.on("GET "+pullsPath, func(out http.ResponseWriter, r *http.Request) {
		if got, want := r.URL.Query(), (url.Values{"state": {"open"}, "sort": {"created"}, "direction": {"asc"}, "per_page": {"100"}}); cmp.Diff(got, want) != "" {
			t.Errorf("asked for %v", got)
		}
		says(200, "["+strings.Join([]string{pullJSON(7, ""), fork, gone, ghost, robot}, ",")+"]")(out, r)
	})
	found, err := pulls.Open(t.Context())
	if err != nil || len(found) != 5 {
		t.Fatalf("got %v, %v", found, err)
	}
	for i, own := range []bool{true, false, false, true, true} {
		if found[i].Head.Own != own || found[i].Head.Branch != branchName {
			t.Errorf("%d: got %+v", i, found[i].Head)
		}
	}
	if found[3].Author != (identity.User{}) || !cmp.Equal(found[3].Labels, []string{"a"}) || !found[4].Author.Bot {
		t.Errorf("got %+v and %+v", found[3], found[4])
	}
}

// Untrusted users cannot make the list unreadable, or too large for memory: any user
// who may fork may open any number of pull requests, with the longest texts.
func TestOpenPulls_theLongestTextsOfStrangers(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	pulls := w.open().PullRequests()
	text := strings.Repeat(`\u003c`, 65_536)
	var list []string
	for i := range 100 {
		fork := strings.Replace(pullJSON(i+1, ""), `"repo":{"id":42}},"base"`, `"repo":{"id":43}},"base"`, 1)
		list = append(list, strings.Replace(fork, `"body":"B"`, `"body":"`+text+`"`, 1))
	}
	list[99] = pullJSON(100, "")
	w.on("GET "+pullsPath, says(200, inList(list)))
	found, err := pulls.Open(t.Context())
	if err != nil || len(found) != 100 {
		t.Fatalf("got %d, %v", len(found), err)
	}
	if found[0].Body != "" || found[99].Body != "B" {
		t.Errorf("kept %d bytes of a stranger, and %q of our own", len(found[0].Body), found[99].Body)
	}
}
