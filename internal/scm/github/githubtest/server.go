package githubtest

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

// prefix is the path of GitHub Enterprise's API.
const prefix = "/api/v3"

// Options configures a Server. The zero value is right for most tests.
type Options struct {
	Now   func() time.Time // default: the time of the machine
	Judge *Judge           // default: from the environment, if set
}

// Server is one GitHub server. All methods are safe for concurrent use.
type Server struct {
	Traffic forgetest.Traffic
	front   *forgetest.Front
	t       testing.TB
	http    *httptest.Server
	now     func() time.Time
	judge   *Judge
	mux     *http.ServeMux
	git     *gittest.Git

	lastID int64
	users  map[string]*user // by login in lower case
	tokens map[string]*token
	teams  map[string]map[string]bool // ORG/SLUG, logins in lower case
	repos  map[int64]*Repository
	names  map[string]int64 // OWNER/NAME in lower case, also former names
	used   int              // requests in the current hour

	apps          []*App
	installations []*Installation
	asked         []Asked
	registrations []*registration
}

type user struct {
	id           int64
	login        string
	bot          bool
	organization bool
}

// token is a credential: of a user, of an installation, or an App's own.
type token struct {
	owner  *user
	scopes []string // of a user's token

	app          *App              // of an App's own token
	installation *Installation     // of an installation token
	permissions  map[string]string // of an installation token
	expires      time.Time         // of an installation token
}

// anonymous returns the token of a request without a credential.
func (s *Server) anonymous() *token { return &token{owner: &user{}} }

func (k *token) anonymous() bool { return k.owner.login == "" }

func (k *token) has(scope string) bool {
	for _, s := range k.scopes {
		if s == scope {
			return true
		}
	}
	return false
}

// New starts a GitHub that stops at the end of the test.
func New(t testing.TB, options Options) *Server {
	t.Helper()
	s := &Server{
		t: t, now: options.Now, judge: options.Judge, git: gittest.New(t),
		users: map[string]*user{}, tokens: map[string]*token{}, teams: map[string]map[string]bool{},
		repos: map[int64]*Repository{}, names: map[string]int64{},
	}
	if s.now == nil {
		s.now = time.Now //nolint:forbidigo // a server in a test without a clock of its own
	}
	s.front = forgetest.New(t, forgetest.Fake{
		Name: "githubtest", Now: s.now, ContentType: "application/json; charset=utf-8", MaxBody: maxBody, Finish: s.finish,
	})
	s.Traffic = s.front.Traffic()
	if s.judge == nil {
		s.judge = environmentJudge(t)
	}
	s.mux = routes()
	s.http = httptest.NewServer(s)
	t.Cleanup(s.http.Close)
	return s
}

// URL returns the root URL of the pages and of Git, without a trailing slash.
func (s *Server) URL() string { return s.http.URL }

// API returns the root URL of the API, with a trailing slash.
func (s *Server) API() string { return s.http.URL + prefix + "/" }

// Host returns the host with its port, as used in keys of repositories and users.
func (s *Server) Host() string { return strings.TrimPrefix(s.http.URL, "http://") }

// Client returns an HTTP client for the server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// AddUser creates an account; a second call for the same login does nothing.
func (s *Server) AddUser(login string) { s.act(func() { s.user(login) }) }

// AddBot creates the account of an app, whose login ends in [bot].
func (s *Server) AddBot(login string) { s.act(func() { s.user(login).bot = true }) }

// Token returns a new token of an account. The scope repo grants everything that the
// account may do; without it the token reads public data only.
func (s *Server) Token(login string, scopes ...string) string {
	var text string
	s.act(func() {
		text = fmt.Sprintf("ghp_%036d", s.next())
		s.tokens[text] = &token{owner: s.user(login), scopes: scopes}
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
			members[lower(s.user(login).login)] = true
		}
		s.teams[lower(name)] = members
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
		u = &user{id: 1000 + s.next(), login: login, bot: strings.HasSuffix(login, "[bot]")}
		s.users[lower(login)] = u
	}
	return u
}

// time returns the current time in GitHub's precision: whole seconds.
func (s *Server) time() time.Time { return s.now().UTC().Truncate(time.Second) }

func lower(text string) string { return strings.ToLower(text) }
