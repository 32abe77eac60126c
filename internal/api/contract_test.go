package api_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/config"
	"promoter/internal/database"
	"promoter/internal/delivery"
	"promoter/internal/edit"
	"promoter/internal/promotion"
	"promoter/internal/store"
	"promoter/internal/view"
)

// elsewhere are the routes that package server has, because receivers authenticate them.
var elsewhere = []string{"POST /snapshots", "POST /evidence"}

// Every route is described, and nothing else.
func TestDescription_hasEveryRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything(t))
	described := slices.Clone(elsewhere)
	for _, route := range w.Routes() {
		path := strings.TrimPrefix(route.Path, api.Prefix)
		if path == "/openapi.yaml" || route.Method == echo.RouteNotFound {
			continue
		}
		for part := range strings.SplitSeq(path, "/") {
			if name, parameter := strings.CutPrefix(part, ":"); parameter {
				path = strings.Replace(path, part, "{"+name+"}", 1)
			}
		}
		described = append(described, route.Method+" "+path)
	}
	var written []string
	for path, item := range description(t).Paths.Map() {
		for method := range item.Operations() {
			written = append(written, method+" "+path)
		}
	}
	slices.Sort(described)
	slices.Sort(written)
	if diff := cmp.Diff(described, written); diff != "" {
		t.Errorf("-code +openapi.yaml:\n%s", diff)
	}
}

// Requests and responses are as the description says.
func TestDescription_ofRequestsAndResponses(t *testing.T) {
	t.Parallel()
	w, router := newWorld(t, everything(t)), routerOf(t)
	asked := map[string]bool{}
	for _, request := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/applications", "", 200},
		{"GET", "/applications?status=open&application=web&search=web+1.5&environment=prod&limit=1", "", 200},
		{"GET", "/applications?status=broken", "", 400},
		{"GET", "/applications?limit=0", "", 400},
		{"GET", "/applications?after=x", "", 400},
		{"GET", "/applications/web?repository=acme/shop", "", 200},
		{"GET", "/applications/none?repository=acme/shop", "", 404},
		{"GET", "/applications/web?repository=acme/none", "", 404},
		{"GET", "/repositories/github.com%2Facme%2Fshop", "", 200},
		{"GET", "/repositories/acme%2Fnone", "", 404},
		{"POST", "/repositories/acme%2Fshop/reconcile", "", 200},
		{"POST", "/repositories/acme%2Fshop/reconcile?all=true", "", 400},
		{"GET", "/repositories?repository=acme/shop&limit=1", "", 200},
		{"GET", "/repositories?after=x", "", 400},
		{"GET", "/environments?repository=acme/shop&environment=prod&application=web", "", 200},
		{"GET", "/environments?state=open", "", 400},
		{"GET", "/promotions", "", 200},
		{"GET", "/promotions?state=landed&limit=1", "", 200},
		{"GET", "/promotions?state=lost", "", 400},
		{"GET", "/decisions", "", 200},
		{"GET", "/evidence?limit=1", "", 200},
		{"GET", "/deliveries", "", 200},
		{"GET", "/deliveries?repository=acme/shop", "", 400},
		{"GET", "/metrics?by=week&since=30d", "", 200},
		{"GET", "/metrics?format=xml", "", 400},
		{"GET", "/where?version=1.5.0", "", 200},
		{"GET", "/where?version=none", "", 200},
		{"GET", "/where?version=x", "", 400},
		{"GET", "/status", "", 200},
		{"GET", "/history", "", 200},
		{"GET", "/history?limit=many", "", 400},
		{"POST", "/replay", `{"id": "1", "dryRun": true}`, 200},
		{"POST", "/replay", `{}`, 400},
		{"POST", "/decisions", `{"repository": "acme/shop", "verb": "hold", "environment": "prod", "application": "web", "reason": "so"}`, 200},
		{"POST", "/decisions", `{"verb": "hold", "enviroment": "prod"}`, 400},
		{"GET", "/snapshots/dev?repository=acme/shop", "", 200},
		{"GET", "/runs/release-1?repository=acme/shop", "", 200},
		{"GET", "/bindings?repository=acme/shop", "", 200},
	} {
		r := httptest.NewRequestWithContext(t.Context(), request.method, api.Prefix+request.path, strings.NewReader(request.body))
		r.Header.Set("Authorization", "Bearer "+apiToken)
		if request.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		route := validate(t, router, r, request.want < 400)
		answer := httptest.NewRecorder()
		r.Body = io.NopCloser(strings.NewReader(request.body))
		w.ServeHTTP(answer, r)
		if answer.Code != request.want {
			t.Errorf("%s %s: %d %s", request.method, request.path, answer.Code, answer.Body)
			continue
		}
		asked[request.method+" "+route.route.Path] = true
		err := openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: route.input, Status: answer.Code, Header: answer.Header(), Body: io.NopCloser(bytes.NewReader(answer.Body.Bytes())),
			Options: &openapi3filter.Options{IncludeResponseStatus: true},
		})
		if err != nil {
			t.Errorf("%s %s: %v\n%s", request.method, request.path, err, answer.Body)
		}
	}
	for path, item := range description(t).Paths.Map() {
		for method := range item.Operations() {
			name := method + " " + path
			if !asked[name] && path != "/changes" && !slices.Contains(elsewhere, name) {
				t.Errorf("%s is not tested", name)
			}
		}
	}
}

// A client that has the answer already gets 304.
func TestAPI_answersWithETags(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything(t))
	ask := func(known string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), "GET", api.Prefix+"/applications", nil)
		r.Header.Set("Authorization", "Bearer "+apiToken)
		r.Header.Set("If-None-Match", known)
		answer := httptest.NewRecorder()
		w.ServeHTTP(answer, r)
		return answer
	}
	first := ask("")
	tag := first.Header().Get("ETag")
	if again := ask(`"other", W/` + tag); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("the same again: %d %s", again.Code, again.Body)
	}
	if other := ask(`"other"`); other.Code != http.StatusOK || other.Body.String() != first.Body.String() {
		t.Errorf("another tag: %d", other.Code)
	}
}

// everything are the options with all resources, over a database.
func everything(t *testing.T) api.Options {
	t.Helper()
	db, err := database.Open(t.Context(), database.Options{Path: filepath.Join(t.TempDir(), "promoter.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	stored := store.New(db)
	fill(t, db, stored)
	sessions := tokens()
	sessions.Tokens[0].Principal.Roles = []access.Role{access.Admin, access.Operate}
	return api.Options{
		Sessions: sessions,
		Admin:    several{}, Snapshots: several{}, Decisions: several{}, Reconciler: several{}, View: &view.View{Store: stored}, Changes: &api.Changes{Store: stored},
		Metrics: func(context.Context, delivery.Query) (delivery.Report, error) { return delivery.Report{}, nil },
	}
}

// fill stores an application in two environments, with everything that a target can have.
func fill(t *testing.T, db *database.DB, stored *store.Store) {
	t.Helper()
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	old := []store.EventVersion{{Component: "web", Repository: "quay.io/acme/web", Tag: "1.4.2", Digest: "sha256:" + strings.Repeat("a", 64)}}
	next := []store.EventVersion{{Component: "web", Repository: "quay.io/acme/web", Tag: "1.5.0", Digest: "sha256:" + strings.Repeat("b", 64)}}
	targets := []store.Target{
		{Environment: "dev", Application: "web", Branch: "main", State: "same", Rule: "same", Message: "up to date", Current: next, Wanted: next, Detail: store.TargetDetail{
			Propose: "automatic", Land: "push", Health: &store.TargetHealth{Status: "Healthy", Sync: "Synced", Since: at, Message: "fine", HealthySince: at, Actual: old, ActualStatus: "Healthy"},
		}},
		{
			Environment: "prod", Application: "web", Branch: "main", Paths: []string{"apps/web/prod"}, After: []string{"dev"},
			State: "proposed", Rule: "parent", Message: "dev has it", Until: at.Add(time.Hour), Current: old, Wanted: next, Number: 7, URL: "https://github.com/acme/shop/pull/7",
			Detail: store.TargetDetail{
				Conditions: []promotion.Condition{{Name: "dev soak", State: promotion.Passed, Value: "1h", Until: &at}},
				Gates:      []promotion.Condition{{Name: "approvals", State: promotion.Pending, Reason: "1 is missing", Value: "1 of 2"}},
				Title:      "Production", Notes: []string{"a note"}, Left: []string{"worker 1 -> 2: refused"}, Propose: "automatic", Land: "pr",
				Hold:    &store.TargetHold{Kind: store.HoldHold, By: "github.com/alice", At: at, Reason: "wait", Until: at, Scope: "prod/web", Applies: "held as web in prod; renamed to web in production"},
				Request: &store.TargetRequest{By: "github.com/alice", At: at, Reason: "now"}, Opened: at, ApprovedBy: []string{"bob"},
				Sources: []store.SourceChange{{
					Component: "web", Source: "github.com/acme/web", URL: "https://github.com/acme/web/compare/a...b", Total: 2, Release: "https://github.com/acme/web/releases/v1.5.0",
					Commits: []store.SourceCommit{{ID: strings.Repeat("d", 40), Subject: "Fix the cart", Author: "Ana", At: at, Number: 12, URL: "https://github.com/acme/web/pull/12"}},
				}},
			},
		},
	}
	const differs = `[{"kind":"actual","environment":"prod","application":"web","file":"apps/web.yaml","line":7,"message":"1.4.1 runs"}]`
	err := db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		if err := stored.Targets.Set(ctx, tx, "github:1", targets); err != nil {
			return err
		}
		detail := store.RepositoryDetail{
			Config:     "version: 1\n",
			Problems:   config.Problems{{Severity: config.SeverityWarning, Position: config.Position{File: config.FileName, Line: 3, Column: 1}, Message: "no gate uses the window", Hint: "remove it"}},
			Refused:    store.ListOf([]store.RefusedFile{{Environment: "prod", Application: "web", Refusal: edit.Refusal{File: "a.yaml", Line: 2, Component: "web", Reason: "the tag stands alone", Unaffected: []string{"api"}}}}),
			Unfollowed: store.ListOf([]store.UnfollowedImage{{Branch: "main", File: "a.yaml", Line: 9, Image: "redis:7"}}),
		}
		if err := stored.Details.Set(ctx, tx, "github:1", store.FoundDigest{All: "a", Config: "b"}, detail); err != nil {
			return err
		}
		if err := stored.Deliveries.Save(ctx, tx, store.Delivery{Receiver: "quay", ID: "1", EventType: "push"}); err != nil {
			return err
		}
		_, err := stored.RecordReconciliation(ctx, tx, store.Repository{Key: "github:1", Forge: "github", Host: "github.com", Name: "acme/shop"}, store.HistoryUpdate{
			Events: []store.Event{{
				At: at, Repository: "github:1", Name: "github.com/acme/shop", Environment: "prod", Application: "web", Action: store.EventLanded,
				Snapshot: "v1:abc", Versions: old, Commit: strings.Repeat("c", 40), Number: 6, URL: "https://github.com/acme/shop/pull/6",
			}},
		})
		return errors.Join(err, stored.Targets.SetDrift(ctx, tx, "github:1", differs))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func description(t *testing.T) *openapi3.T {
	t.Helper()
	loaded, err := openapi3.NewLoader().LoadFromData(api.Description)
	if err != nil {
		t.Fatal(err)
	}
	if err := loaded.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return loaded
}

func routerOf(t *testing.T) routers.Router {
	t.Helper()
	router, err := gorillamux.NewRouter(description(t))
	if err != nil {
		t.Fatal(err)
	}
	return router
}

type described struct {
	route *routers.Route
	input *openapi3filter.RequestValidationInput
}

// validate finds the operation of a request, which must or must not be valid.
func validate(t *testing.T, router routers.Router, r *http.Request, valid bool) described {
	t.Helper()
	route, parameters, err := router.FindRoute(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	input := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, MultiError: true},
	}
	if err := openapi3filter.ValidateRequest(t.Context(), input); valid && err != nil {
		t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	return described{route, input}
}
