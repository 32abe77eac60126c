package github

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
)

func TestExplain_answersOfGitHub(t *testing.T) {
	t.Parallel()
	const permissions = "X-Accepted-GitHub-Permissions: contents=read; pull_requests=write"
	for _, test := range []struct {
		name    string
		status  int
		body    string
		headers []string
		kind    fault.Kind
		words   []string
	}{
		{"wrong token", 401, `{"message":"Bad credentials"}`, nil, fault.Unauthorized, []string{"401: Bad credentials", "expired or revoked"}},
		{"second factor", 401, `{"message":"Must specify two-factor authentication OTP code."}`, []string{"X-GitHub-OTP: required; app"}, fault.Unauthorized, []string{"two-factor"}},
		{
			"fine-grained token", 403, `{"message":"Resource not accessible by personal access token"}`,
			[]string{permissions},
			fault.Unauthorized,
			[]string{"lacks the permission contents=read; pull_requests=write"},
		},
		{
			"fine-grained token and check runs", 403, `{"message":"Resource not accessible by personal access token"}`,
			[]string{"X-Accepted-GitHub-Permissions: checks=read"},
			fault.Unauthorized,
			[]string{"use a classic one with the scope repo"},
		},
		{
			"app and check runs", 403, `{"message":"Resource not accessible by integration"}`,
			[]string{"X-Accepted-GitHub-Permissions: checks=read"},
			fault.Unauthorized,
			[]string{"lacks the permission checks=read"},
		},
		{
			"archived", 403, `{"message":"Repository was archived so is read-only."}`,
			[]string{permissions},
			fault.Unauthorized,
			[]string{"Repository was archived so is read-only."},
		},
		{
			"classic token", 403, `{"message":"Must have admin rights"}`,
			[]string{"X-Accepted-OAuth-Scopes: repo, admin:org", "X-OAuth-Scopes: read:org, gist"},
			fault.Unauthorized,
			[]string{"lacks the scope repo or admin:org (it has read:org, gist)"},
		},
		{"classic token without any", 404, `{"message":"Not Found"}`, []string{"X-Accepted-OAuth-Scopes: repo", "X-OAuth-Scopes: "}, fault.NotFound, []string{"lacks the scope repo (it has none)"}},
		{"classic token that may", 404, `{"message":"Not Found"}`, []string{"X-Accepted-OAuth-Scopes: repo", "X-OAuth-Scopes: repo"}, fault.NotFound, []string{"404: Not Found"}},
		{"single sign-on", 403, `{"message":"Resource protected by organization SAML enforcement."}`, []string{"X-GitHub-SSO: required; url=https://x"}, fault.Unauthorized, []string{"single sign-on"}},
		{"gone", 410, `{"message":"Issues are disabled"}`, nil, fault.NotFound, []string{"Issues are disabled"}},
		{"blocked by law", 451, `{"message":"Repository access blocked"}`, nil, fault.NotFound, nil},
		{"conflict", 409, `{"message":"Git Repository is empty."}`, nil, fault.Conflict, nil},
		{
			"details", 422, `{"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom","message":"No commits between main and x"}]}`,
			nil, fault.Invalid,
			[]string{"Validation Failed; No commits between main and x"},
		},
		{"one that exists", 422, `{"message":"Validation Failed","errors":[{"message":"A pull request already exists for acme:x."}]}`, nil, fault.Conflict, nil},
		{"a branch that is none", 422, `{"message":"Validation Failed","errors":[{"resource":"PullRequest","field":"head","code":"invalid"}]}`, nil, fault.NotFound, []string{"head is invalid"}},
		{"a commit that is none", 422, `{"message":"No commit found for SHA: 1"}`, nil, fault.NotFound, nil},
		{"haste", 422, `{"message":"Validation Failed","errors":[{"resource":"IssueComment","code":"unprocessable","field":"data","message":"was submitted too quickly"}]}`, nil, fault.Temporary, nil},
		{"bad request", 400, `{"message":"Problems parsing JSON"}`, nil, fault.Invalid, nil},
		{"request timeout", 408, ``, nil, fault.Temporary, []string{"Request Timeout"}},
		{"accepted", 202, `{}`, nil, fault.Temporary, nil},
		{"accident", 500, `{"message":"Server Error"}`, nil, fault.Temporary, []string{"500: Server Error"}},
		{"proxy", 502, `<html>Bad Gateway</html>`, nil, fault.Temporary, []string{"502: Bad Gateway"}},
		{"login page", 200, `<html>`, nil, fault.Temporary, []string{"not JSON"}},
		{"cut off", 200, `[{"number":`, nil, fault.Temporary, nil},
		{
			"several lines", 422, `{"message":"Repository rule violations found\n\nAt least 1 approving review is required.\u001b[31m"}`,
			nil, fault.Invalid,
			[]string{"Repository rule violations found; At least 1 approving review is required."},
		},
		{"a novel", 403, `{"message":"` + strings.Repeat("no ", 5000) + `"}`, nil, fault.Unauthorized, []string{"no no no"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t)
			repository := w.open()
			w.on("GET "+repoPath+"/pulls", says(test.status, test.body, test.headers...))
			_, err := repository.PullRequests().Open(t.Context())
			checkFault(t, err, test.kind, append(test.words, "open pull requests of acme/deploy: ")...)
		})
	}
}

// GitHub responds with "not found" if a token lacks the scope to write.
func TestExplain_hiddenFromWriting(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	repository := w.open()
	w.on("POST "+repoPath+"/pulls", says(404, `{"message":"Not Found"}`, "X-Accepted-OAuth-Scopes: repo", "X-OAuth-Scopes: read:org"))
	_, err := repository.PullRequests().Create(t.Context(), draft())
	checkFault(t, err, fault.Unauthorized, "lacks the scope repo (it has read:org)")
	w.expect("POST " + repoPath + "/pulls")
}

func TestExplain_nothing(t *testing.T) {
	t.Parallel()
	if err := explain("x", nil); err != nil {
		t.Errorf("got %v", err)
	}
	if got := statusOf(errors.New("x")); got != 0 {
		t.Errorf("got %d", got)
	}
}

// For any response of a server, the error is one bounded line.
func FuzzExplain(f *testing.F) {
	f.Add(422, []byte(`{"message":"Validation Failed","errors":["x",{"field":"a","code":"b"}]}`), "repo, read:org", "gist", "contents=read")
	f.Add(403, []byte("{\"message\":\"a\\nb\\u0000\\u202e https://u:p@h/\"}"), "", "\x7f", ";;")
	f.Add(405, []byte(`<`), ",", " ", "\xff")
	f.Fuzz(func(t *testing.T, status int, body []byte, accepted, held, permissions string) {
		if status < 300 || status > 599 {
			return
		}
		resp := &http.Response{StatusCode: status, Header: http.Header{}}
		resp.Header.Set("X-Accepted-OAuth-Scopes", accepted)
		resp.Header.Set("X-OAuth-Scopes", held)
		resp.Header.Set("X-Accepted-GitHub-Permissions", permissions)
		resp.Request = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/x", nil)
		answer := &gogithub.ErrorResponse{Response: resp}
		_ = json.Unmarshal(body, answer)
		answer.Response = resp
		for _, err := range []error{explain("thing", answer), judgeMerge("thing", answer)} {
			text := err.Error()
			if fault.KindOf(err) == fault.Internal || len(text) > 2000 || strings.ContainsAny(text, "\n\r\x00\x1b") || !strings.HasPrefix(text, "thing: ") {
				t.Fatalf("%q: %q", fault.KindOf(err), text)
			}
		}
	})
}
