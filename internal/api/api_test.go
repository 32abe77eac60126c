package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/drift"
	"promoter/internal/fault"
	"promoter/internal/secret"
	"promoter/internal/snapshot"
	"promoter/internal/view"
)

const apiToken = "canary-token-of-the-api-0123456789abcdef"

// adminAPI returns what a test wants.
type adminAPI struct{ err error }

func (d adminAPI) Status(context.Context) (api.Status, error) {
	return api.Status{Schema: api.Schema, Repositories: []api.Repository{{Name: "github.com/acme/gitops", State: api.StateIdle}}}, d.err
}

func (d adminAPI) Replay(_ context.Context, what api.Replay) (api.Replayed, error) {
	return api.Replayed{Schema: api.Schema, ID: what.ID, Receiver: what.Receiver}, d.err
}

// world is the API with what it logged.
type world struct{ *echo.Echo }

func newWorld(t *testing.T, options api.Options) *world {
	t.Helper()
	e := echo.New()
	now := func() time.Time { return time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC) }
	e.HTTPErrorHandler = func(err error, c echo.Context) { api.Respond(c, err, now()) }
	options.Now = now
	api.Register(e, options)
	return &world{e}
}

// tokens is one token with the role admin.
func tokens() *access.Sessions {
	return &access.Sessions{
		Key:    secret.New(strings.Repeat("k", access.MinSessionKey)),
		Now:    func() time.Time { return time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC) },
		Tokens: access.Tokens{{Principal: access.Principal{Name: "token all", Roles: []access.Role{access.Admin}}, Secret: secret.New(apiToken)}},
	}
}

func withAPI(d api.Admin) api.Options { return api.Options{Admin: d, Sessions: tokens()} }

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

// The API requires the token, and no response contains it.
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
}

func TestAPI_isAbsentWithoutAToken(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]api.Options{"no token": {Admin: adminAPI{}}, "no API": {Sessions: tokens()}} {
		w := newWorld(t, options)
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
	var status api.Status
	answer := w.ask(t, "GET", "/api/v1/status", shown, "")
	if err := json.Unmarshal(answer.Body.Bytes(), &status); err != nil || len(status.Repositories) != 1 || answer.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%+v, %v", status, err)
	}
	var replayed api.Replayed
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

// What a token may not read does not exist for it: what answers gets its scope with the query.
func TestAPI_showsATokenOnlyItsScope(t *testing.T) {
	t.Parallel()
	options := withAPI(several{})
	options.Snapshots = several{}
	options.Sessions.Tokens = access.Tokens{{Secret: secret.New(apiToken), Principal: access.Principal{
		Roles: []access.Role{access.Read},
		Scope: access.Scope{Repositories: []string{"github.com/acme/shop"}, Environments: []string{"dev"}},
	}}}
	w := newWorld(t, options)
	for path, want := range map[string]struct {
		status       int
		shown, never string
	}{
		"/api/v1/status":  {200, "acme/shop", "billing|prod|delivery-1|registry.example.com|shared|503"},
		"/api/v1/history": {200, "acme/shop", "billing|prod"},
		"/api/v1/snapshots/dev?repository=acme/shop":  {200, "acme/shop", "billing"},
		"/api/v1/bindings?repository=acme/shop":       {200, "acme/shop", "prod"},
		"/api/v1/runs/release-1?repository=acme/shop": {200, "dev", "prod"},
	} {
		answer := w.ask(t, "GET", path, "Bearer "+apiToken, "")
		body := answer.Body.String()
		if answer.Code != want.status || !strings.Contains(body, want.shown) {
			t.Errorf("%s: %d %s", path, answer.Code, body)
		}
		for never := range strings.SplitSeq(want.never, "|") {
			if strings.Contains(body, never) {
				t.Errorf("%s contains %q: %s", path, never, body)
			}
		}
	}
	if answer := w.ask(t, "POST", "/api/v1/replay", "Bearer "+apiToken, `{"id": "1"}`); answer.Code != http.StatusForbidden {
		t.Errorf("a replay without the role: %d %s", answer.Code, answer.Body)
	}
	options.Sessions.Tokens[0].Principal.Roles = []access.Role{access.Admin}
	if answer := w.ask(t, "POST", "/api/v1/replay", "Bearer "+apiToken, `{"id": "1"}`); answer.Code != http.StatusForbidden {
		t.Errorf("a replay of a delivery that may be about any repository: %d %s", answer.Code, answer.Body)
	}
}

// several answers with two repositories and two environments.
type several struct{ adminAPI }

var places = []access.Target{
	{Repository: "github.com/acme/shop", Environment: "dev", Application: "web"},
	{Repository: "github.com/acme/shop", Environment: "prod", Application: "web"},
	{Repository: "github.com/acme/billing", Environment: "dev", Application: "web"},
}

func (several) Status(context.Context) (api.Status, error) {
	status := api.Status{
		Schedules: []api.Schedule{}, Deliveries: []view.Delivery{{ID: "delivery-1"}}, Backoffs: []api.Backoff{{Host: "registry.example.com"}},
		Notifications: []api.Notification{{Destination: "releases", Waiting: 1, Error: "down"}},
	}
	for _, one := range places {
		status.Repositories = append(status.Repositories, api.Repository{
			Name: one.Repository, State: api.StateFailing, Failure: "prod: 503", LastError: "prod: 503", Drift: []drift.Drift{
				{Kind: drift.Ahead, Environment: one.Environment, Application: one.Application}, {Kind: drift.Shared, File: "shared.yaml"},
			},
		})
	}
	return status, nil
}

func (several) History(_ context.Context, query api.HistoryQuery) (page api.History, err error) {
	for _, one := range places {
		if query.Readable != nil && !query.Readable(one.Repository, one.Environment, one.Application) {
			continue
		}
		page.Events = append(page.Events, api.Event{Versions: []api.Version{}, Repository: one.Repository, Environment: one.Environment, Application: one.Application})
	}
	return page, nil
}

func (several) Post(context.Context, api.PostedSnapshot) (api.Requested, error) {
	return api.Requested{}, nil
}

func (several) In(_ context.Context, query api.SnapshotQuery) (found []api.EnvironmentSnapshot, err error) {
	for _, one := range places {
		if one.Environment == query.Environment && query.Principal.MayRead(one.Repository, one.Environment, one.Application) {
			found = append(found, api.EnvironmentSnapshot{Environment: one.Environment, Snapshot: snapshot.Snapshot{Repository: one.Repository, Application: one.Application}})
		}
	}
	return found, nil
}

func (several) Run(_ context.Context, _ string, query api.SnapshotQuery) (api.Run, error) {
	run := api.Run{State: api.RunActive, Repository: "github.com/" + query.Repository}
	for _, environment := range readableIn(query) {
		run.Steps = append(run.Steps, api.Step{Environment: environment})
	}
	return run, nil
}

func (several) Bindings(_ context.Context, query api.SnapshotQuery) (api.Bindings, error) {
	bindings := api.Bindings{Repository: "github.com/" + query.Repository}
	for _, environment := range readableIn(query) {
		bindings.Bindings = append(bindings.Bindings, api.Binding{Environment: environment})
	}
	return bindings, nil
}

func readableIn(query api.SnapshotQuery) []string {
	return slices.DeleteFunc([]string{"dev", "prod"}, func(environment string) bool {
		return !query.Principal.MayRead("github.com/"+query.Repository, environment, "")
	})
}
