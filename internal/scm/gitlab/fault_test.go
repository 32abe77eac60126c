package gitlab

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/scm/rest"
)

// answered returns the library's error for a response.
func answered(t *testing.T, status int, body string) error {
	t.Helper()
	resp := httptest.NewRecorder()
	resp.WriteHeader(status)
	_, _ = resp.WriteString(body)
	result := resp.Result()
	result.Request = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/x", nil)
	return gogitlab.CheckResponse(result)
}

func TestExplain_answersOfGitLab(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string
		kind   fault.Kind
		text   string
	}{
		"wrong token":   {401, `{"message":"401 Unauthorized"}`, fault.Unauthorized, "401: Unauthorized: the token is wrong, expired or revoked"},
		"revoked token": {401, `{"error":"invalid_token","error_description":"Token was revoked."}`, fault.Unauthorized, "401: invalid_token; Token was revoked.: the token"},
		"scope":         {403, `{"error":"insufficient_scope","error_description":"x","scope":"api read_api"}`, fault.Unauthorized, "lacks the scope api or read_api"},
		"no right":      {403, `{"message":"403 Forbidden"}`, fault.Unauthorized, "403: Forbidden"},
		"not there":     {404, `{"message":"404 Project Not Found"}`, fault.NotFound, "404: Not Found"},
		"moved":         {405, `{"message":"Non GET methods are not allowed for moved projects"}`, fault.Conflict, "moved projects"},
		"a second one":  {409, `{"message":["Another open merge request already exists for this source branch: !5"]}`, fault.Conflict, "409: Another open merge request already exists for this source branch: !5"},
		"a field":       {400, `{"message":{"title":["is too long","is odd"],"base":{"x":["y"]}}}`, fault.Invalid, "400: base x y; title is odd; title is too long"},
		"branches":      {422, `{"message":["You can't use same project/branch for source and target"]}`, fault.Invalid, "You can't use same"},
		"accident":      {500, `{"message":"500 Internal Server Error"}`, fault.Temporary, "500: Internal Server Error"},
		"proxy":         {502, `<html>no</html>`, fault.Temporary, "502: Bad Gateway"},
		"timeout":       {408, `{"message":{"error":"Request timed out"}}`, fault.Temporary, "error Request timed out"},
		"no words":      {423, ``, fault.Temporary, "423: Locked"},
	} {
		err := explain("thing", answered(t, test.status, test.body))
		if fault.KindOf(err) != test.kind || !strings.HasPrefix(err.Error(), "thing: GitLab answered ") || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %q: %v", name, fault.KindOf(err), err)
		}
		if rest.StatusOf(err) != test.status {
			t.Errorf("%s: status %d", name, rest.StatusOf(err))
		}
	}
}

// For any response of a server, the error is one bounded line.
func FuzzExplain(f *testing.F) {
	f.Add(422, `{"message":{"a":["b",{"c":1}]},"error":"d"}`)
	f.Add(403, "{\"message\":\"a\\nb\\u0000\\u202e https://u:p@h/\"}")
	f.Add(403, `{"error":"insufficient_scope","scope":"\u001b[31m"}`)
	f.Add(405, `<`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 300 || status > 599 || status == http.StatusNotModified {
			return
		}
		err := explain("thing", answered(t, status, body))
		text := err.Error()
		if fault.KindOf(err) == fault.Internal || len(text) > 2000 || strings.ContainsAny(text, "\n\r\x00\x1b") || !strings.HasPrefix(text, "thing: ") {
			t.Fatalf("%q: %q", fault.KindOf(err), text)
		}
	})
}
