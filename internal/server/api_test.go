package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"promoter/internal/fault"
	"promoter/internal/secret"
	"promoter/internal/server"
)

const apiToken = "canary-token-of-the-api-0123456789abcdef"

// adminAPI returns what a test wants.
type adminAPI struct{ err error }

func (d adminAPI) Status(context.Context) (server.Status, error) {
	return server.Status{Schema: server.Schema, Repositories: []server.Repository{{Name: "github.com/acme/gitops", State: server.StateIdle}}}, d.err
}

func (d adminAPI) Replay(_ context.Context, what server.Replay) (server.Replayed, error) {
	return server.Replayed{Schema: server.Schema, ID: what.ID, Receiver: what.Receiver}, d.err
}

func withAPI(d server.AdminAPI) func(*server.Options) {
	return func(o *server.Options) { o.Admin, o.Token = d, secret.New(apiToken) }
}

// ask sends a request to the API.
func (w *world) ask(t *testing.T, method, path, authorization, body string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	answer := httptest.NewRecorder()
	w.ServeHTTP(answer, request)
	return answer
}

// The API requires the token, and no response or log line contains it.
func TestAPI_requiresTheToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withAPI(adminAPI{}))
	for authorization, want := range map[string]int{
		"": 401, "Bearer ": 401, apiToken: 401, "bearer " + apiToken: 401, "Bearer " + apiToken[1:]: 401,
		"Bearer " + apiToken + "0": 401, "Basic " + apiToken: 401, "Bearer " + apiToken: 200,
	} {
		for method, path := range map[string]string{"GET": "/api/v1/status", "POST": "/api/v1/replay"} {
			answer := w.ask(t, method, path, authorization, `{"id": "1"}`)
			if answer.Code != want || strings.Contains(answer.Body.String(), "canary") {
				t.Errorf("%s %s with %q: %d %s", method, path, authorization, answer.Code, answer.Body)
			}
		}
	}
	if strings.Contains(w.log.String(), "canary") {
		t.Errorf("the token is in the log: %s", w.log)
	}
}

func TestAPI_isAbsentWithoutAToken(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*server.Options){
		"no token": func(o *server.Options) { o.Admin = adminAPI{} },
		"no API":   func(o *server.Options) { o.Token = secret.New(apiToken) },
	} {
		w := newWorld(t, change)
		for _, authorization := range []string{"", "Bearer ", "Bearer " + apiToken} {
			if answer := w.ask(t, "GET", "/api/v1/status", authorization, ""); answer.Code != http.StatusNotFound {
				t.Errorf("%s with %q: %d", name, authorization, answer.Code)
			}
		}
	}
}

func TestAPI_answersJSON(t *testing.T) {
	t.Parallel()
	const shown = "Bearer " + apiToken
	w := newWorld(t, withAPI(adminAPI{}))
	var status server.Status
	answer := w.ask(t, "GET", "/api/v1/status", shown, "")
	if err := json.Unmarshal(answer.Body.Bytes(), &status); err != nil || len(status.Repositories) != 1 || answer.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%+v, %v", status, err)
	}
	var replayed server.Replayed
	answer = w.ask(t, "POST", "/api/v1/replay", shown, `{"id": "a/b?c", "receiver": "quay"}`)
	if err := json.Unmarshal(answer.Body.Bytes(), &replayed); err != nil || replayed.ID != "a/b?c" || replayed.Receiver != "quay" {
		t.Errorf("%+v, %v", replayed, err)
	}
	for body, want := range map[string]int{"": 400, "{}": 400, "[": 400, `{"id": "` + strings.Repeat("x", 65<<10) + `"}`: 400} {
		if answer := w.ask(t, "POST", "/api/v1/replay", shown, body); answer.Code != want {
			t.Errorf("%.20q: %d", body, answer.Code)
		}
	}
	w = newWorld(t, withAPI(adminAPI{err: fault.New(fault.NotFound, "there is no delivery 1")}))
	if answer := w.ask(t, "POST", "/api/v1/replay", shown, `{"id": "1"}`); answer.Code != 404 || !strings.Contains(answer.Body.String(), "there is no delivery 1") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}
