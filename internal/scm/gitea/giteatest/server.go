package giteatest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
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
}

// Server is one Gitea server. All methods are safe for concurrent use.
type Server struct {
	Traffic  forgetest.Traffic
	front    *forgetest.Front
	t        testing.TB
	http     *httptest.Server
	now      func() time.Time
	maxItems int
	mux      *http.ServeMux
	git      *gittest.Git

	lastID int64
	users  map[string]*user // by login in lower case
	tokens map[string]*token
	first  string // of the tokens
	teams  []*team
	orgs   map[string]bool // in lower case
	repos  map[int64]*Repository
	names  map[string]int64 // OWNER/NAME in lower case, also former names
}

type user struct {
	id    int64
	login string
}

type team struct {
	id        int64
	org, name string
	members   map[string]bool // logins in lower case
}

// New starts a Gitea that stops at the end of the test.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	s := &Server{
		t: t, now: options.Now, maxItems: options.MaxItems, git: gittest.New(t),
		users: map[string]*user{}, tokens: map[string]*token{}, orgs: map[string]bool{},
		repos: map[int64]*Repository{}, names: map[string]int64{},
	}
	if s.now == nil {
		s.now = time.Now //nolint:forbidigo // a server in a test without a clock of its own
	}
	if s.maxItems == 0 {
		s.maxItems = 50
	}
	s.front = forgetest.New(t, forgetest.Fake{
		Name: "giteatest", Now: s.now, ContentType: "application/json;charset=utf-8", MaxBody: maxBody,
	})
	s.Traffic = s.front.Traffic()
	s.mux = routes()
	s.http = httptest.NewServer(s)
	t.Cleanup(s.http.Close)
	return s
}

// URL returns the root URL of the pages and of Git, without a trailing slash.
func (s *Server) URL() string { return s.http.URL }

// Host returns the host with its port, as used in keys of repositories and users.
func (s *Server) Host() string { return strings.TrimPrefix(s.http.URL, "http://") }

// Client returns an HTTP client for the server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// AddUser creates an account; a second call for the same login does nothing.
func (s *Server) AddUser(login string) { s.act(func() { s.user(login) }) }

// AddSystem creates an account of the server itself, such as that of Actions. Those
// have negative IDs.
func (s *Server) AddSystem(login string) { s.act(func() { s.user(login).id = -2 }) }

// SetTeam creates the team ORG/NAME with these members, and the organization.
func (s *Server) SetTeam(name string, logins ...string) {
	s.act(func() {
		org, short, _ := strings.Cut(name, "/")
		made := &team{id: s.next(), org: org, name: short, members: map[string]bool{}}
		for _, login := range logins {
			made.members[lower(s.user(login).login)] = true
		}
		s.orgs[lower(org)] = true
		s.teams = append(s.teams, made)
	})
}

// act calls f exclusively; a failure of Git fails the test.
func (s *Server) act(f func()) {
	s.t.Helper()
	s.front.Act(f)
}

func (s *Server) next() int64 {
	s.lastID++
	return s.lastID
}

func (s *Server) user(login string) *user {
	u := s.users[lower(login)]
	if u == nil {
		u = &user{id: 1000 + s.next(), login: login}
		s.users[lower(login)] = u
	}
	return u
}

// author returns the commit author of an account.
func (s *Server) author(u *user) gittest.Author {
	return gittest.Author{Name: u.login, Email: fmt.Sprintf("%s@noreply.example.com", lower(u.login)), At: s.time()}
}

// time returns the current time in Gitea's precision: whole seconds.
func (s *Server) time() time.Time { return s.now().UTC().Truncate(time.Second) }

func lower(text string) string { return strings.ToLower(text) }
