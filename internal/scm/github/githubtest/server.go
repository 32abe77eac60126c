// Package githubtest is a GitHub for tests: a server on loopback that keeps state,
// rejects unknown requests, and reproduces the pitfalls of the real one. Its
// repositories are real bare Git repositories, served over smart HTTP by git itself,
// so a clone, a push and the API see the same branches.
//
// It has the layout of GitHub Enterprise: pages and Git at the root, the API below
// /api/v3/. A request without a route fails the test. Every request and response is
// validated against GitHub's OpenAPI description if available; see openapitest.
//
// It is for tests only and requires the program git.
package githubtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/forgetest"
	"promoter/internal/scm/github/openapitest"
)

// prefix is the path of GitHub Enterprise's API.
const prefix = "/api/v3"

// graphql is the path of GitHub Enterprise's GraphQL API.
const graphql = "/api/graphql"

// Options configures a Server. The zero value is right for most tests.
type Options struct {
	Now func() time.Time // default: the time of the machine
}

// Server is one GitHub server. All methods are safe for concurrent use.
type Server struct {
	Traffic forgetest.Traffic
	t       testing.TB
	hub     *forgetest.Hub
	api     *openapitest.Description // nil: not checked
	routes  forgetest.Routes[endpoint]

	tokens map[string]*token
	teams  map[string]map[string]bool // ORG/SLUG, logins in lower case
	used   int                        // requests in the current hour

	lateComments time.Duration // see DelayComments
	lateTokens   time.Duration // see DelayTokens
	lateAs       Late          // see DelayTokens

	key           *openpgp.Entity // with which commits of Apps are signed; nil: not made yet
	apps          []*App
	installations []*Installation
	asked         []Asked
	registrations []*registration
}

// The model of the server.
type (
	pull    = forgetest.Pull
	user    = forgetest.User
	comment = forgetest.Event
	event   = forgetest.Event
	review  = forgetest.Review
	status  = forgetest.Status
	release = forgetest.Release
)

// token is a credential: of a user, of an installation, or an App's own.
type token struct {
	owner  *user
	scopes []string // of a user's token

	app          *App              // of an App's own token
	installation *Installation     // of an installation token
	permissions  map[string]string // of an installation token
	expires      time.Time         // of an installation token
	known        time.Time         // of an installation token: rejected before
}

// anonymous returns the token of a request without a credential.
func anonymous() *token { return &token{owner: &user{}} }

func (k *token) anonymous() bool { return k.owner.Login == "" }

func (k *token) has(scope string) bool { return slices.Contains(k.scopes, scope) }

// sees reports whether the token may read a repository.
func (k *token) sees(repo *forgetest.Repository) bool {
	if k.installation != nil {
		return !repo.Private || k.installation.has(repo)
	}
	return !repo.Private || k.has("repo") && repo.Permission(k.owner) != "none"
}

func (k *token) pushes(repo *forgetest.Repository) bool {
	if k.installation != nil {
		return k.installation.has(repo) && k.permits("contents=write")
	}
	return k.has("repo") && repo.MayPush(k.owner)
}

// description is read once per test binary.
var description = openapitest.FromEnvironment(func() []string { return slices.Collect(maps.Keys(endpoints())) })

// New starts a GitHub that stops at the end of the test.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	s := &Server{t: t, routes: forgetest.NewRoutes(endpoints()), tokens: map[string]*token{}, teams: map[string]map[string]bool{}}
	if options.Now == nil {
		options.Now = time.Now //nolint:forbidigo // a server in a test without a clock of its own
	}
	var err error
	if s.api, err = description(); err != nil {
		t.Fatal(err)
	}
	s.hub = forgetest.NewHub(t, forgetest.Fake{
		Name: "githubtest", Now: options.Now, ContentType: "application/json; charset=utf-8", MaxBody: maxBody, Finish: s.finish,
	}, forgetest.Kind{
		Precision: time.Second, EmailHost: emailHost, HeadRef: "refs/pull/%d/head",
		Git: gittest.Setup{
			Hidden: []string{"refs/pull"},
			Refusal: []string{
				"error: GH006: Protected branch update failed for refs/heads/BRANCH.",
				"error: Changes must be made through a pull request.",
			},
		},
		Repository: func(r *forgetest.Repository) { r.Own = newRepository(s, r) },
		Pull:       func(p *pull) { p.Own = &details{baseCommit: p.Repo.Bare.Head(p.Base)} },
		Draft:      func(p *pull) bool { return of(p).draft },
		Follow:     follow, Merge: mergeAsUser, OnMerge: []string{forgetest.Merged, forgetest.Closed},
	}, s)
	s.Traffic = s.hub.Front.Traffic()
	return s
}

// emailHost is the host of the addresses of accounts.
const emailHost = "users.noreply.github.com"

// URL returns the root URL of the pages and of Git, without a trailing slash.
func (s *Server) URL() string { return s.hub.URL() }

// API returns the root URL of the API, with a trailing slash.
func (s *Server) API() string { return s.hub.URL() + prefix + "/" }

// Host returns the host with its port, as used in keys of repositories and users.
func (s *Server) Host() string { return s.hub.Host() }

// Client returns an HTTP client for the server.
func (s *Server) Client() *http.Client { return s.hub.Client() }

// AddUser creates an account; a second call for the same login does nothing. The
// account of an app has a login that ends in [bot].
func (s *Server) AddUser(login string) { s.act(func() { s.hub.User(login) }) }

// Token returns a new token of an account. The scope repo grants everything that the
// account may do; without it the token reads public data only.
func (s *Server) Token(login string, scopes ...string) string {
	var text string
	s.act(func() {
		text = fmt.Sprintf("ghp_%036d", s.hub.NextID())
		s.tokens[text] = &token{owner: s.hub.User(login), scopes: scopes}
	})
	return text
}

// SetScopes changes the scopes of a token.
func (s *Server) SetScopes(text string, scopes ...string) {
	s.act(func() { s.tokens[text].scopes = scopes })
}

// Revoke makes a token invalid.
func (s *Server) Revoke(text string) { s.act(func() { delete(s.tokens, text) }) }

// SetTeam creates or replaces the team ORG/SLUG with these members.
func (s *Server) SetTeam(name string, logins ...string) {
	s.act(func() {
		members := map[string]bool{}
		for _, login := range logins {
			members[lower(s.hub.User(login).Login)] = true
		}
		s.teams[lower(name)] = members
	})
}

// Late is how GitHub answers a token that not all of its servers know yet.
type Late string

// The answers that users report.
// https://github.com/octokit/auth-app.js/issues/65
// https://github.com/akuity/kargo/issues/6630
const (
	LateUnauthorized   Late = "unauthorized"    // everywhere
	LateNotFound       Late = "not found"       // everywhere
	LateInRepositories Late = "in repositories" // not found, below repositories only
)

// DelayTokens makes new tokens of installations unknown for some time, to the API and to Git.
func (s *Server) DelayTokens(by time.Duration, as Late) {
	s.act(func() { s.lateTokens, s.lateAs = by, as })
}

// act calls f exclusively; a failure of Git fails the test.
func (s *Server) act(f func()) {
	s.t.Helper()
	s.hub.Front.Act(f)
}

// limit rejects all requests until a time.
type limit struct {
	until     time.Time
	secondary bool
}

// Fail sends a status and a message to the next request whose "METHOD /route"
// contains the text, without executing it.
func (s *Server) Fail(route string, status int, message string) {
	s.hub.Front.Fail(route, refuse(status, message))
}

// Limit rejects all requests to the API with a rate limit until the time: the primary
// one with its headers, the secondary one with Retry-After.
func (s *Server) Limit(secondary bool, until time.Time) {
	s.hub.Front.Limit(until, (&limit{until: until, secondary: secondary}).reply)
}

// reply returns the refusal of a limit.
func (l *limit) reply(now time.Time) *reply {
	if l.secondary {
		r := refuse(http.StatusForbidden, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
		r.Header.Set("Retry-After", itoa(int(l.until.Sub(now).Seconds())+1))
		return r
	}
	r := refuse(http.StatusForbidden, "API rate limit exceeded for user ID 1.")
	r.Header.Set("X-RateLimit-Remaining", "0")
	r.Header.Set("X-RateLimit-Reset", itoa(int(l.until.Unix())))
	return r
}

func lower(text string) string { return strings.ToLower(text) }
