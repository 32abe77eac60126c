package gitlabtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
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
	front   *forgetest.Front
	t       testing.TB
	http    *httptest.Server
	options Options
	mux     *http.ServeMux
	git     *gittest.Git

	lastID   int
	users    map[string]*user // by name in lower case
	tokens   map[string]*token
	groups   map[string]map[*user]int // members' roles by path in lower case
	projects map[int]*Project
	paths    map[string]int // paths in lower case, also former ones
}

type user struct {
	id   int
	name string
	bot  bool
}

type token struct {
	owner   *user
	scopes  []string
	revoked bool
}

// Roles of members.
// https://docs.gitlab.com/api/access_requests/#valid-access-levels
const (
	NoOne      = 0
	Guest      = 10
	Reporter   = 20
	Developer  = 30
	Maintainer = 40
	Owner      = 50
)

// New starts a GitLab that stops at the end of the test.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	s := &Server{
		t: t, options: options, git: gittest.New(t), mux: routes(),
		users: map[string]*user{}, tokens: map[string]*token{}, groups: map[string]map[*user]int{},
		projects: map[int]*Project{}, paths: map[string]int{},
	}
	if s.options.Now == nil {
		s.options.Now = time.Now //nolint:forbidigo // a server in a test without a clock of its own
	}
	s.front = forgetest.New(t, forgetest.Fake{
		Name: "gitlabtest", Now: s.options.Now, ContentType: "application/json", MaxBody: maxBody,
	})
	s.Traffic = s.front.Traffic()
	s.http = httptest.NewServer(s)
	t.Cleanup(s.http.Close)
	return s
}

// URL returns the root URL of the pages and of Git, without a trailing slash.
func (s *Server) URL() string { return s.http.URL + s.options.Root }

// Host returns the host with its port, as used in keys of repositories and users.
func (s *Server) Host() string { return strings.TrimPrefix(s.http.URL, "http://") }

// Client returns an HTTP client for the server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// AddUser creates an account; a second call for the same name does nothing.
func (s *Server) AddUser(name string) { s.act(func() { s.user(name) }) }

// AddBot creates the account of a token or a service account.
func (s *Server) AddBot(name string) { s.act(func() { s.user(name).bot = true }) }

// Token returns a new token of an account, with GitLab's scopes: api, read_api,
// write_repository and read_repository.
func (s *Server) Token(name string, scopes ...string) string {
	var text string
	s.act(func() {
		text = fmt.Sprintf("glpat-%020d", s.next())
		s.tokens[text] = &token{owner: s.user(name), scopes: scopes}
	})
	return text
}

// SetScopes changes the scopes of a token.
func (s *Server) SetScopes(text string, scopes ...string) {
	s.act(func() { s.tokens[text].scopes = scopes })
}

// Revoke makes a token invalid.
func (s *Server) Revoke(text string) { s.act(func() { s.tokens[text].revoked = true }) }

// SetGroup creates or replaces a group with these members, all Developers.
func (s *Server) SetGroup(path string, names ...string) {
	s.act(func() {
		members := map[*user]int{}
		for _, name := range names {
			members[s.user(name)] = Developer
		}
		s.groups[lower(path)] = members
	})
}

// act calls f exclusively; a failure of Git fails the test.
func (s *Server) act(f func()) {
	s.t.Helper()
	s.front.Act(f)
}

func (s *Server) next() int {
	s.lastID++
	return s.lastID
}

func (s *Server) user(name string) *user {
	u := s.users[lower(name)]
	if u == nil {
		u = &user{id: 1000 + s.next(), name: name}
		s.users[lower(name)] = u
	}
	return u
}

func (s *Server) userByID(id int) *user {
	for _, u := range s.users {
		if u.id == id {
			return u
		}
	}
	return nil
}

func (k *token) has(scopes ...string) bool {
	return slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(k.scopes, scope) })
}

// time returns the current time in GitLab's precision: milliseconds.
func (s *Server) time() time.Time { return s.options.Now().UTC().Truncate(time.Millisecond) }

func lower(text string) string { return strings.ToLower(text) }
