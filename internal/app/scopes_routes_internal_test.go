package app

import (
	"net/url"
	"slices"
	"strings"
)

// routeRow is what is requested of a route.
type routeRow struct {
	// requests are paths with their parameters, which have the words {repository}, {key},
	// {environment}, {application}, {component}, {version}, and {snapshot}. The test replaces each with a
	// hidden name, a readable one, and none of both. {badge} is the token of a badge.
	requests []string
	post     bool   // with the token against forgery of the session
	stream   bool   // the response does not end by itself
	same     string // why the answer is the same for every scope; it is not requested then
}

const (
	byTarget = "?repository={repository}&environment={environment}&application={application}"
	senders  = "the secret of a receiver decides, and not a principal; it returns nothing that is stored"
)

// routeRows has every route of the service.
var routeRows = map[string]routeRow{
	"GET /api/v1/applications": {requests: []string{
		"/api/v1/applications", "/api/v1/applications?limit=1", "/api/v1/applications" + byTarget, "/api/v1/applications?search={application}",
		"/api/v1/applications?repository={repository}", "/api/v1/applications?environment={environment}", "/api/v1/applications?status=open&limit=1",
		"/api/v1/applications?search={version}",
	}},
	"GET /api/v1/applications/:application": {requests: []string{
		"/api/v1/applications/{application}", "/api/v1/applications/{application}?repository={repository}",
		"/api/v1/applications/{application}?repository={key}",
	}},
	"GET /api/v1/repositories/:repository": {requests: []string{"/api/v1/repositories/{repository}", "/api/v1/repositories/{key}"}},
	"GET /api/v1/where":                    {requests: []string{"/api/v1/where?version={version}", "/api/v1/where?version={snapshot}"}},
	"GET /api/v1/repositories": {requests: []string{
		"/api/v1/repositories", "/api/v1/repositories?limit=1", "/api/v1/repositories?repository={repository}", "/api/v1/repositories?repository={key}",
	}},
	"GET /api/v1/environments": {requests: []string{
		"/api/v1/environments", "/api/v1/environments?limit=1", "/api/v1/environments" + byTarget, "/api/v1/environments?limit=1&environment={environment}",
		"/api/v1/environments?application={application}", "/api/v1/environments?repository={repository}&limit=1",
	}},
	"GET /api/v1/promotions": {requests: []string{
		"/api/v1/promotions", "/api/v1/promotions?limit=1", "/api/v1/promotions" + byTarget, "/api/v1/promotions?state=landed",
		"/api/v1/promotions?state=landed&limit=1", "/api/v1/promotions?state=landed&limit=1&repository={repository}",
		"/api/v1/promotions?state=landed&limit=1&environment={environment}", "/api/v1/promotions?state=landed&limit=1&application={application}",
	}},
	"GET /api/v1/decisions":  {requests: []string{"/api/v1/decisions", "/api/v1/decisions?limit=1", "/api/v1/decisions" + byTarget}},
	"GET /api/v1/evidence":   {requests: []string{"/api/v1/evidence", "/api/v1/evidence?limit=1", "/api/v1/evidence" + byTarget}},
	"GET /api/v1/deliveries": {requests: []string{"/api/v1/deliveries", "/api/v1/deliveries?limit=1"}},
	"GET /api/v1/status":     {requests: []string{"/api/v1/status"}},
	"GET /api/v1/history": {requests: []string{
		"/api/v1/history", "/api/v1/history?limit=1", "/api/v1/history?limit=1&repository={repository}", "/api/v1/history?limit=1&repository={key}",
		"/api/v1/history?limit=1&environment={environment}", "/api/v1/history?limit=1&application={application}",
		"/api/v1/history?limit=1&component={component}", "/api/v1/history?limit=2&since=2026-11-20T08:00:00Z", "/api/v1/history" + byTarget,
	}},
	"GET /api/v1/metrics": {requests: []string{
		"/api/v1/metrics", "/api/v1/metrics?group=repository", "/api/v1/metrics?group=application&repository={repository}",
		"/api/v1/metrics?environment={environment}", "/api/v1/metrics?application={application}", "/api/v1/metrics?format=csv&group=label:team",
	}},
	"GET /api/v1/snapshots/:environment": {requests: []string{
		"/api/v1/snapshots/{environment}?repository={repository}", "/api/v1/snapshots/{environment}?repository={key}&application={application}",
		"/api/v1/snapshots/{environment}", "/api/v1/snapshots/{environment}?repository={repository}&at=2026-11-20T10:30:00Z&form=resource",
	}},
	"GET /api/v1/runs/:snapshot": {requests: []string{
		"/api/v1/runs/{snapshot}?repository={repository}", "/api/v1/runs/{snapshot}?repository={repository}&application={application}",
		"/api/v1/runs/{snapshot}", "/api/v1/runs/{snapshot}?repository={key}",
	}},
	"GET /api/v1/bindings": {requests: []string{
		"/api/v1/bindings", "/api/v1/bindings?repository={repository}", "/api/v1/bindings?repository={repository}&environment={environment}",
		"/api/v1/bindings?repository={key}&application={application}",
	}},
	"GET /api/v1/changes":                             {requests: []string{"/api/v1/changes"}, stream: true},
	"GET /api/v1/openapi.yaml":                        {same: "it is the same file for everyone"},
	"POST /api/v1/replay":                             {same: "it needs the role admin and a scope without limits; TestAPI_showsATokenOnlyItsScope"},
	"POST /api/v1/repositories/:repository/reconcile": {same: "it finds the repository as a decision does; TestEntrances_overHTTP"},
	"POST /api/v1/decisions":                          {same: "it writes, and finds the repository as the test of package decisions shows"},
	"POST /api/v1/snapshots":                          {same: senders},
	"POST /api/v1/evidence":                           {same: senders},

	"GET /": {requests: []string{
		"/", "/?repository={repository}", "/?environment={environment}", "/?search={application}", "/?status=open", "/?search={version}",
	}},
	"GET /applications/:application": {requests: []string{
		"/applications/{application}?repository={repository}", "/applications/{application}", "/applications/{application}?repository={key}",
	}},
	"GET /applications/:application/decide": {requests: []string{
		"/applications/{application}/decide" + "?repository={repository}&environment={environment}&verb=hold",
		"/applications/{application}/decide" + "?repository={repository}&environment={environment}&verb=rollback",
	}},
	"POST /applications/:application/decide": {post: true, requests: []string{
		"/applications/{application}/decide" + "?repository={repository}&environment={environment}&verb=hold",
	}},
	"GET /repositories/:repository": {requests: []string{"/repositories/{repository}", "/repositories/{key}"}},
	"GET /history": {requests: []string{
		"/history", "/history?repository={repository}", "/history?environment={environment}", "/history?application={application}",
		"/history?component={component}",
	}},
	"GET /where": {requests: []string{"/where?q={version}", "/where?q={snapshot}"}},
	"GET /delivery": {requests: []string{
		"/delivery", "/delivery?repository={repository}", "/delivery?environment={environment}&group=application", "/delivery?group=repository",
	}},
	"GET /activity": {requests: []string{"/activity"}},
	"GET /changes":  {requests: []string{"/changes"}, stream: true},
	"GET /badges/:token/:application": {requests: []string{
		"/badges/{badge}/{application}.svg?repository={repository}", "/badges/{badge}/{application}.svg",
		"/badges/{badge}/{application}.svg?repository={repository}&environment={environment}",
		"/badges/{badge}/{application}.svg?repository={repository}&version={version}",
	}},
	"HEAD /badges/:token/:application": {requests: []string{"/badges/{badge}/{application}.svg?repository={repository}&environment={environment}"}},

	"GET /static/:file":                {same: "the files are parts of the program"},
	"GET /sign-in":                     {same: "it shows a form"},
	"POST /sign-in":                    {same: "it begins a session"},
	"POST /sign-out":                   {same: "it ends a session"},
	"GET /healthz":                     {same: "it returns a fixed text"},
	"HEAD /healthz":                    {same: "it returns nothing"},
	"GET /readyz":                      {same: "it returns whether the database answers"},
	"HEAD /readyz":                     {same: "it returns whether the database answers"},
	"POST /webhooks/:receiver":         {same: senders},
	"POST /webhooks/:receiver/:secret": {same: senders},
}

// names are what the words in requests are replaced with: names that are readable, hidden, or of nothing.
type names map[string]string

func (n names) in(request string) string {
	for word, name := range n {
		request = strings.ReplaceAll(request, "{"+word+"}", url.QueryEscape(name))
	}
	return request
}

var (
	absentNames = names{
		"repository": "github.com/acme/absent", "key": "github.com/77", "environment": "absent", "application": "absent", "component": "absent",
		"version": "7.7.7", "snapshot": "absent-1",
	}
	readableNames = names{
		"repository": "github.com/acme/shop", "key": "github.com/2", "environment": "dev", "application": "web", "component": "web",
		"version": "1.5.0", "snapshot": "release-1",
	}
	hiddenNames = names{
		"repository": "github.com/acme/hidden", "key": "github.com/1", "environment": "secret", "application": "vault", "component": "keys",
		"version": "6.6.6", "snapshot": "secret-1",
	}
)

// with returns the names, of which some are replaced.
func (n names) with(other names, words ...string) names {
	mixed := names{}
	for word, name := range n {
		mixed[word] = name
		if slices.Contains(words, word) {
			mixed[word] = other[word]
		}
	}
	return mixed
}

// combinations are names of which some are hidden.
func combinations() []names {
	return []names{
		readableNames, hiddenNames, absentNames,
		readableNames.with(hiddenNames, "repository", "key"), readableNames.with(hiddenNames, "environment"),
		readableNames.with(hiddenNames, "application"), readableNames.with(hiddenNames, "component", "version", "snapshot"),
		hiddenNames.with(readableNames, "repository", "key"), hiddenNames.with(readableNames, "environment"),
		hiddenNames.with(readableNames, "application"),
	}
}
