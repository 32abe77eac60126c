package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"promoter/internal/access"
	"promoter/internal/api"
)

// A browser that is signed in may use the API. What changes something must come from a page.
func TestAPI_acceptsBrowsersThatAreSignedIn(t *testing.T) {
	t.Parallel()
	sessions := tokens()
	w := newWorld(t, api.Options{Admin: adminAPI{}, Sessions: sessions})
	signIn := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/sign-in", nil)
	if _, ok := sessions.SignInToken(signIn, r, apiToken); !ok {
		t.Fatal("not signed in")
	}
	cookie := signIn.Result().Cookies()[0]
	r.AddCookie(cookie)
	_, session, _ := sessions.Authenticate(r)
	for name, test := range map[string]struct {
		method, path, cookie, csrf, authorization string
		want                                      int
	}{
		"read":                        {"GET", "/status", cookie.Value, "", "", 200},
		"change":                      {"POST", "/replay", cookie.Value, sessions.CSRF(session), "", 200},
		"change without its token":    {"POST", "/replay", cookie.Value, "", "", 403},
		"a cookie that was changed":   {"GET", "/status", "x" + cookie.Value, "", "", 401},
		"a wrong token and a session": {"GET", "/status", cookie.Value, "", "Bearer x", 401},
	} {
		r := httptest.NewRequestWithContext(t.Context(), test.method, api.Prefix+test.path, strings.NewReader(`{"id":"d1"}`))
		r.Header.Set("Content-Type", "application/json")
		r.AddCookie(&http.Cookie{Name: cookie.Name, Value: test.cookie})
		if test.csrf != "" {
			r.Header.Set("X-CSRF-Token", test.csrf)
		}
		if test.authorization != "" {
			r.Header.Set("Authorization", test.authorization)
		}
		answer := httptest.NewRecorder()
		if w.ServeHTTP(answer, r); answer.Code != test.want {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
	}
}

func TestAPI_public(t *testing.T) {
	t.Parallel()
	sessions := tokens()
	sessions.Public = access.Principal{Name: "public", Roles: []access.Role{access.Read}, Scope: access.Scope{Repositories: []string{"github.com/other/*"}}}
	w := newWorld(t, api.Options{Admin: adminAPI{}, Sessions: sessions})
	if answer := w.ask(t, "GET", api.Prefix+"/status", "", ""); answer.Code != 200 || strings.Contains(answer.Body.String(), "acme/gitops") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	if answer := w.ask(t, "GET", api.Prefix+"/status", "Bearer x", ""); answer.Code != 401 {
		t.Errorf("a wrong token: %d", answer.Code)
	}
	if answer := w.ask(t, "POST", api.Prefix+"/replay", "", `{"id":"d1"}`); answer.Code != 401 {
		t.Errorf("a change: %d", answer.Code)
	}
}
