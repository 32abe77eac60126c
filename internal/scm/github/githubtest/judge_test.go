package githubtest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestJudge_finds checks requests and responses that are invalid in one way each.
func TestJudge_finds(t *testing.T) {
	t.Parallel()
	judge := environmentJudge(t)
	if judge == nil {
		t.Skipf("%s is not set", DescriptionVariable)
	}
	labels := []object{{"id": 1, "node_id": "x", "url": "https://a.example.com", "name": "prod", "description": nil, "color": "ededed", "default": false}}
	for _, test := range []struct {
		name, method, path, body string
		answer                   *reply
		want                     string // empty: nothing wrong
	}{
		{"as described", "POST", "/repos/a/b/issues/1/labels", `{"labels":["prod"]}`, ok(labels), ""},
		{"a bare list of labels", "POST", "/repos/a/b/issues/1/labels", `["prod"]`, ok(labels), ""},
		{"a branch with slashes", "GET", "/repos/a/b/branches/promoter/prod/web", ``, refuse(http.StatusNotFound, "x"), ""},
		{"no such route", "GET", "/repos/a/b/pull", ``, noContent(), "no matching operation"},
		{"no such method", "DELETE", "/repos/a/b/pulls/1", ``, noContent(), "method not allowed"},
		{"a query that is none", "GET", "/repos/a/b/pulls?state=closd", ``, ok([]object{}), "request: parameter \"state\""},
		{"a key is missing", "POST", "/repos/a/b/statuses/" + strings.Repeat("a", 40), `{}`, noContent(), "request: request body"},
		{"a wrong type", "PATCH", "/repos/a/b/pulls/1", `{"title":7}`, noContent(), "request: request body"},
		{"an answer without a key", "GET", "/repos/a/b/issues/1/labels", ``, ok([]object{{"id": 1}}), "answer: "},
		{"a status that the route has not", "PUT", "/repos/a/b/pulls/1/merge", `{}`, created(object{}), "status is not supported"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), test.method, test.path, nil)
			r.Header.Set("Content-Type", "application/json")
			err := judge.verdict(r, []byte(test.body), test.answer)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("verdict: %v, want %q", err, test.want)
			}
		})
	}
}

// TestJudge_knowsEveryRoute fails for a route that GitHub does not have.
func TestJudge_knowsEveryRoute(t *testing.T) {
	t.Parallel()
	judge := environmentJudge(t)
	if judge == nil {
		t.Skipf("%s is not set", DescriptionVariable)
	}
	for pattern := range endpoints() {
		method, path, _ := strings.Cut(pattern, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, parameter.ReplaceAllString(path, "7"), nil)
		if _, _, err := judge.router.FindRoute(r); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
