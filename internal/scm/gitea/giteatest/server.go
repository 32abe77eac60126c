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

// prefix is where Gitea has its API.
const prefix = "/api/v1"

// Options change what New makes. The zero value is right for most tests.
type Options struct {
	Now      func() time.Time // default: the time of the machine
	MaxItems int              // of a page, as MAX_RESPONSE_ITEMS; default 50
}

// Server is one Gitea. All methods may be used by several goroutines.
type Server struct {
	forgetest.Traffic
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

// New starts a Gitea that ends with the test.
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

// URL is the root of the pages and of Git, without a slash at the end.
func (s *Server) URL() string { return s.http.URL }

// Host is the host with its port, as keys of repositories and persons have it.
func (s *Server) Host() string { return strings.TrimPrefix(s.http.URL, "http://") }

// Client talks to the server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// AddUser makes an account; a second call for the same login changes nothing.
func (s *Server) AddUser(login string) { s.act(func() { s.user(login) }) }

// AddSystem makes an account of the server itself, as that of Actions is one. Those
// have negative ids.
func (s *Server) AddSystem(login string) { s.act(func() { s.user(login).id = -2 }) }

// SetTeam makes the team ORG/NAME of these members, and the organization.
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

// act runs f alone; a failure of Git fails the test.
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

// author is who commits are by.
func (s *Server) author(u *user) gittest.Author {
	return gittest.Author{Name: u.login, Email: fmt.Sprintf("%s@noreply.example.com", lower(u.login)), At: s.time()}
}

// time is the present as Gitea tells it: in whole seconds.
func (s *Server) time() time.Time { return s.now().UTC().Truncate(time.Second) }

func lower(text string) string { return strings.ToLower(text) }
