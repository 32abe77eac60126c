// Package giteatest is a Gitea for tests: a server on loopback that keeps state,
// rejects unknown requests, and reproduces the pitfalls of the real one. Its
// repositories are real bare Git repositories, served over smart HTTP by git itself,
// so a clone, a push and the API see the same branches.
//
// Pages and Git are at the root, the API is below /api/v1/. A request without a
// route, or with a parameter or field that Gitea does not know, fails the test.
// Responses follow the sources of Gitea 1.22 to 1.26, which Forgejo shares.
//
// It is for tests only and requires the program git.
package giteatest

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

// prefix is the path of Gitea's API.
const prefix = "/api/v1"

// Options configures a Server. The zero value is right for most tests.
type Options struct {
	Now      func() time.Time // default: the time of the machine
	MaxItems int              // of a page, as MAX_RESPONSE_ITEMS; default 50
	Recorded *Recorded        // if set, every response is compared with these
}

// Server is one Gitea server. All methods are safe for concurrent use.
type Server struct {
	Traffic  forgetest.Traffic
	t        testing.TB
	hub      *forgetest.Hub
	maxItems int
	routes   forgetest.Routes[endpoint]
	recorded *Recorded

	tokens map[string]*token
	first  string // of the tokens
	teams  []*team
	orgs   map[string]bool // in lower case
}

// The model of the server.
type (
	pull    = forgetest.Pull
	user    = forgetest.User
	event   = forgetest.Event
	review  = forgetest.Review
	status  = forgetest.Status
	release = forgetest.Release
)

type team struct {
	id        int64
	org, name string
	members   map[string]bool   // logins in lower case
	units     map[string]string // permissions by unit
}

// New starts a Gitea that stops at the end of the test.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	s := &Server{t: t, maxItems: options.MaxItems, recorded: options.Recorded, routes: forgetest.NewRoutes(endpoints()), tokens: map[string]*token{}, orgs: map[string]bool{}}
	if options.Now == nil {
		options.Now = time.Now //nolint:forbidigo // a server in a test without a clock of its own
	}
	if s.maxItems == 0 {
		s.maxItems = 50
	}
	s.hub = forgetest.NewHub(t, forgetest.Fake{
		Name: "giteatest", Now: options.Now, ContentType: "application/json;charset=utf-8", MaxBody: maxBody,
	}, forgetest.Kind{
		Precision: time.Second, EmailHost: "noreply.example.com", HeadRef: "refs/pull/%d/head",
		Git: gittest.Setup{
			Hidden:  []string{"refs/pull"},
			Refusal: []string{"", "Gitea: Not allowed to push to protected branch BRANCH"},
		},
		Repository: func(r *forgetest.Repository) { r.Own = newRepository(s, r) },
		Pull:       func(p *pull) { p.Own = &progress{waits: own(p.Repo).late} },
		Draft:      isDraft, Pushed: settle, Follow: follow, Merge: mergeAsUser, OnMerge: []string{forgetest.Merged},
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

// AddUser creates an account; a second call for the same login does nothing.
func (s *Server) AddUser(login string) { s.act(func() { s.hub.User(login) }) }

// AddSystem creates an account of the server itself, such as that of Actions. Those
// have negative IDs.
func (s *Server) AddSystem(login string) { s.act(func() { s.hub.User(login).ID = -2 }) }

// SetTeam creates the team ORG/NAME with these members, and the organization.
func (s *Server) SetTeam(name string, logins ...string) {
	s.act(func() {
		org, short, _ := strings.Cut(name, "/")
		made := &team{id: s.hub.NextID(), org: org, name: short, members: map[string]bool{}, units: units("read")}
		for _, login := range logins {
			made.members[lower(s.hub.User(login).Login)] = true
		}
		s.orgs[lower(org)] = true
		s.teams = append(s.teams, made)
	})
}

// JoinTeam adds accounts to a team.
func (s *Server) JoinTeam(name string, logins ...string) {
	s.act(func() {
		for _, t := range s.teams {
			for _, login := range logins {
				if lower(t.org+"/"+t.name) == lower(name) {
					t.members[lower(s.hub.User(login).Login)] = true
				}
			}
		}
	})
}

// units returns this permission for the units that are of interest.
func units(permission string) map[string]string {
	return map[string]string{"repo.code": permission, "repo.issues": permission, "repo.pulls": permission}
}

// act calls f exclusively; a failure of Git fails the test.
func (s *Server) act(f func()) {
	s.t.Helper()
	s.hub.Front.Act(f)
}

// Scopes returns the scopes that promoter's token needs.
func Scopes() []string {
	return []string{"read:user", "write:repository", "write:issue", "read:organization"}
}

type token struct {
	owner  *user
	scopes []string
}

// anonymous returns the token of a request without a credential.
func anonymous() *token { return &token{owner: &user{}} }

func (k *token) anonymous() bool { return k.owner.Login == "" }

// has reports whether the token has a scope of a category; write includes read.
func (k *token) has(write bool, category string) bool {
	return slices.Contains(k.scopes, "all") || slices.Contains(k.scopes, "write:"+category) || !write && slices.Contains(k.scopes, "read:"+category)
}

// sees reports whether the token may read a repository.
func (k *token) sees(r *forgetest.Repository) bool { return r.Permission(k.owner) != "none" }

// Token returns a new token of an account with these scopes.
func (s *Server) Token(login string, scopes ...string) string {
	var text string
	s.act(func() {
		text = fmt.Sprintf("%040x", 0xbeef0000+s.hub.NextID())
		s.tokens[text] = &token{owner: s.hub.User(login), scopes: scopes}
		if s.first == "" {
			s.first = text
		}
	})
	return text
}

// SetScopes changes the scopes of a token.
func (s *Server) SetScopes(text string, scopes ...string) {
	s.act(func() { s.tokens[text].scopes = scopes })
}

// Revoke makes a token invalid.
func (s *Server) Revoke(text string) { s.act(func() { delete(s.tokens, text) }) }

// Fail sends a status and a message to the next request whose "METHOD /route"
// contains the text, without executing it.
func (s *Server) Fail(route string, status int, message string) {
	s.hub.Front.Fail(route, refuse(status, message))
}

// Garble sends this body to the next request whose "METHOD /route" contains the text,
// without executing it.
func (s *Server) Garble(route, body string) {
	answer := forgetest.Answer(http.StatusOK, forgetest.Plain(body))
	answer.Header.Set("Content-Type", "application/json;charset=utf-8")
	s.hub.Front.Fail(route, answer)
}

// Collide fails the next write as Gitea does when two writes collide.
func (s *Server) Collide() {
	s.Fail(forgetest.AnyWrite, http.StatusForbidden, "push failed: cannot lock ref 'refs/pull/1/head': reference already exists")
}

// Limit rejects all requests to the API as a rate limiting proxy does, until the
// time: with Retry-After, or with the headers of an exhausted limit.
func (s *Server) Limit(headers bool, until time.Time) {
	s.hub.Front.Limit(until, func(now time.Time) *reply {
		r := refuse(http.StatusTooManyRequests, "Too many requests")
		if headers {
			r.Header.Set("X-RateLimit-Remaining", "0")
			r.Header.Set("X-RateLimit-Reset", itoa(int(until.Unix())))
			return r
		}
		r.Header.Set("Retry-After", itoa(int(until.Sub(now).Seconds())+1))
		return r
	})
}

func lower(text string) string { return strings.ToLower(text) }
