// Package gitlabtest is a GitLab for tests: a server on loopback that keeps state,
// rejects unknown requests, and reproduces the pitfalls of the real one. Its projects
// are real bare Git repositories, served over smart HTTP by git itself, so a clone, a
// push and the API see the same branches.
//
// It can be served below a path, like a self-managed GitLab. A request without a
// route, or with a parameter that the route does not have, fails the test. Its
// behavior follows GitLab's own code and documentation:
// https://gitlab.com/gitlab-org/gitlab
//
// It is for tests only and requires the program git.
package gitlabtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/forgetest"
)

// Options configures a Server. The zero value is right for most tests.
type Options struct {
	Now  func() time.Time // default: the time of the machine
	Root string           // path of the server, as in /gitlab
	Free bool             // without features of the higher tiers
	Old  bool             // approvals have no time, as before GitLab 18
}

// Server is one GitLab server. All methods are safe for concurrent use.
type Server struct {
	Traffic forgetest.Traffic
	t       testing.TB
	hub     *forgetest.Hub
	options Options
	routes  forgetest.Routes[endpoint]

	tokens map[string]*token
	groups map[string]map[string]string // roles of direct members by path and name, in lower case
}

// The model of the server.
type (
	request = forgetest.Pull
	user    = forgetest.User
	note    = forgetest.Event
	award   = forgetest.Reaction
	release = forgetest.Release
)

type token struct {
	owner   *user
	scopes  []string
	revoked bool
}

// Roles of members, as permissions of the model.
// https://docs.gitlab.com/api/access_requests/#valid-access-levels
const (
	NoOne      = "none"
	Guest      = "guest"
	Reporter   = "read"
	Developer  = "write"
	Maintainer = "admin"
	Owner      = "owner"
)

// New starts a GitLab that stops at the end of the test.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	if options.Now == nil {
		options.Now = time.Now //nolint:forbidigo // a server in a test without a clock of its own
	}
	s := &Server{t: t, options: options, routes: forgetest.NewRoutes(endpoints()), tokens: map[string]*token{}, groups: map[string]map[string]string{}}
	s.hub = forgetest.NewHub(t, forgetest.Fake{
		Name: "gitlabtest", Now: options.Now, ContentType: "application/json", MaxBody: maxBody,
	}, forgetest.Kind{
		Root: options.Root, Precision: time.Millisecond, EmailHost: "users.noreply.gitlab.com", Creator: "root",
		HeadRef: "refs/merge-requests/%d/head",
		Git: gittest.Setup{
			Hidden:  []string{"refs/merge-requests", "refs/keep-around"},
			Refusal: []string{"GitLab: You are not allowed to push code to protected branches on this project."},
		},
		Repository: func(r *forgetest.Repository) { r.Own = newProject(s, r) },
		Pull: func(m *request) {
			m.Own = &details{states: map[*user]string{}, squash: own(m.Repo).settings.Squash == "default_on"}
			if m.HeadCommit != "" {
				take(m, m.HeadCommit)
			}
		},
		Draft: isDraft, Follow: follow, Merge: mergeAsUser, OnMerge: []string{forgetest.Merged},
	}, s)
	s.Traffic = s.hub.Front.Traffic()
	return s
}

// URL returns the root URL of the pages and of Git, without a trailing slash.
func (s *Server) URL() string { return s.hub.URL() }

// Host returns the host with its port, as used in keys of repositories and users.
func (s *Server) Host() string { return s.hub.Host() }

// Client returns an HTTP client for the server.
func (s *Server) Client() *http.Client { return s.hub.Client() }

// AddUser creates an account; a second call for the same name does nothing.
func (s *Server) AddUser(name string) { s.act(func() { s.hub.User(name) }) }

// AddBot creates the account of a token or a service account.
func (s *Server) AddBot(name string) { s.act(func() { s.hub.User(name).Bot = true }) }

// Token returns a new token of an account, with GitLab's scopes: api, read_api,
// write_repository and read_repository.
func (s *Server) Token(name string, scopes ...string) string {
	var text string
	s.act(func() {
		text = fmt.Sprintf("glpat-%020d", s.hub.NextID())
		s.tokens[text] = &token{owner: s.hub.User(name), scopes: scopes}
	})
	return text
}

// SetScopes changes the scopes of a token.
func (s *Server) SetScopes(text string, scopes ...string) {
	s.act(func() { s.tokens[text].scopes = scopes })
}

// Revoke makes a token invalid.
func (s *Server) Revoke(text string) { s.act(func() { s.tokens[text].revoked = true }) }

// SetRole changes the role of a member of a group.
func (s *Server) SetRole(path, name, role string) {
	s.act(func() { s.groups[lower(path)][lower(name)] = role })
}

// SetGroup creates or replaces a group with these members, all Developers.
func (s *Server) SetGroup(path string, names ...string) {
	s.act(func() {
		members := map[string]string{}
		for _, name := range names {
			members[lower(s.hub.User(name).Login)] = Developer
		}
		s.groups[lower(path)] = members
	})
}

// act calls f exclusively; a failure of Git fails the test.
func (s *Server) act(f func()) {
	s.t.Helper()
	s.hub.Front.Act(f)
}

func userByID(s *Server, id int64) *user {
	for _, u := range s.hub.Users {
		if u.ID == id {
			return u
		}
	}
	return nil
}

func (k *token) has(scopes ...string) bool {
	return slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(k.scopes, scope) })
}

// Fail sends a status and a message to the next request whose "METHOD /route"
// contains the text, without executing it.
func (s *Server) Fail(route string, status int, message string) {
	s.hub.Front.Fail(route, refuse(status, message))
}

// Limit rejects all requests to the API with a limit until the time: that of the
// server with its headers and in plain text, or that of an endpoint.
func (s *Server) Limit(endpoint bool, until time.Time) {
	s.hub.Front.Limit(until, func(now time.Time) *reply { return limited(endpoint, until, now) })
}

// limited returns the reply of a limit in effect.
// https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers
func limited(endpoint bool, until, now time.Time) *reply {
	wait := itoa(int(until.Sub(now).Seconds()) + 1)
	if endpoint {
		r := refuse(http.StatusTooManyRequests, object{"error": "This endpoint has been requested too many times. Try again later."})
		r.Header.Set("Retry-After", wait)
		return r
	}
	r := answer(http.StatusTooManyRequests, forgetest.Plain("Retry later\n"))
	r.Header.Set("Content-Type", "text/plain")
	for name, value := range map[string]string{
		"RateLimit-Limit": "2000", "RateLimit-Name": "throttle_authenticated_api", "RateLimit-Observed": "2001",
		"RateLimit-Remaining": "0", "RateLimit-Reset": itoa(int(until.Unix())), "Retry-After": wait,
	} {
		r.Header.Set(name, value)
	}
	return r
}

func lower(text string) string { return strings.ToLower(text) }
