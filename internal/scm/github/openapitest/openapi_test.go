package openapitest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"promoter/internal/scm/forgetest"
)

// TestDescription_finds checks requests and responses that are invalid in one way each.
func TestDescription_finds(t *testing.T) {
	t.Parallel()
	description, err := FromEnvironment(func() []string {
		return []string{
			"POST /repos/{owner}/{repo}/issues/{number}/labels", "GET /repos/{owner}/{repo}/branches/{branch...}", "GET /repos/{owner}/{repo}/pulls",
			"PATCH /repos/{owner}/{repo}/pulls/{number}", "POST /repos/{owner}/{repo}/statuses/{sha}", "PUT /repos/{owner}/{repo}/pulls/{number}/merge",
			"GET /app/installations",
		}
	})()
	if err != nil {
		t.Fatal(err)
	}
	if description == nil {
		t.Skipf("%s is not set", DescriptionVariable)
	}
	type object = map[string]any
	ok, created := http.StatusOK, http.StatusCreated
	reply := forgetest.Answer
	labels := []object{{"id": 1, "node_id": "x", "url": "https://a.example.com", "name": "prod", "description": nil, "color": "ededed", "default": false}}
	for _, test := range []struct {
		name, method, path, body string
		answer                   *forgetest.Reply
		want                     string // empty: nothing wrong
	}{
		{"as described", "POST", "/repos/a/b/issues/1/labels", `{"labels":["prod"]}`, reply(ok, labels), ""},
		{"a bare list of labels", "POST", "/repos/a/b/issues/1/labels", `["prod"]`, reply(ok, labels), ""},
		{"a branch with slashes", "GET", "/repos/a/b/branches/promoter/prod/web", ``, reply(http.StatusNotFound, object{"message": "x", "documentation_url": "https://docs.github.com/rest", "status": "404"}), ""},
		{"no such route", "GET", "/repos/a/b/pull", ``, reply(http.StatusNoContent, nil), "no matching operation"},
		{"no such method", "DELETE", "/repos/a/b/pulls/1", ``, reply(http.StatusNoContent, nil), "method not allowed"},
		{"a query that is none", "GET", "/repos/a/b/pulls?state=closd", ``, reply(ok, []object{}), "request: parameter \"state\""},
		{"a key is missing", "POST", "/repos/a/b/statuses/" + strings.Repeat("a", 40), `{}`, reply(http.StatusNoContent, nil), "request: request body"},
		{"a wrong type", "PATCH", "/repos/a/b/pulls/1", `{"title":7}`, reply(http.StatusNoContent, nil), "request: request body"},
		{"an answer without a key", "GET", "/repos/a/b/issues/1/labels", ``, reply(ok, []object{{"id": 1}}), "answer: "},
		{"a status that the route has not", "PUT", "/repos/a/b/pulls/1/merge", `{}`, reply(created, object{}), "status is not supported"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), test.method, test.path, nil)
			r.Header.Set("Content-Type", "application/json")
			err := description.validate(r, []byte(test.body), test.answer)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("verdict: %v, want %q", err, test.want)
			}
		})
	}
}
