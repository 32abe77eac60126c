package giteatest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/forgetest"
)

const maxBody = 1 << 20 // of a request to the API, in bytes

// object is a JSON object.
type object = map[string]any

// reply is a response before it is sent.
type reply = forgetest.Reply

func ok(body any) *reply { return forgetest.Answer(http.StatusOK, body) }

func created(body any) *reply { return forgetest.Answer(http.StatusCreated, body) }

func bare(status int) *reply { return forgetest.Answer(status, nil) }

// refuse returns an error in Gitea's form.
func refuse(status int, message string) *reply {
	return forgetest.Answer(status, object{"message": message, "url": "https://gitea.example.com/api/swagger"})
}

// notFound is the response for what does not exist and for what the caller cannot
// read.
func notFound() *reply {
	r := refuse(http.StatusNotFound, "not found")
	r.Body.(object)["errors"] = nil
	return r
}

func itoa(n int) string { return strconv.Itoa(n) }

// call is one request to the API.
type call struct {
	s     *Server
	r     *http.Request
	route string
	body  []byte
	token *token
	repo  *Repository

	listing bool // the request is for a list, which has fewer keys
}

// who returns the account of the token.
func (c *call) who() *user { return c.token.owner }

// ServeHTTP serves the API below its prefix and Git elsewhere.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, prefix+"/") {
		s.hub.ServeGit(w, r, s.admitGit)
		return
	}
	inner := forgetest.Below(r, prefix)
	route, name, known := s.routes.Find(inner)
	s.hub.Front.Serve(w, r, name, func(body []byte) *reply {
		if !known {
			s.t.Errorf("giteatest: no route for %s %s", inner.Method, inner.URL.Path)
			return refuse(http.StatusNotImplemented, "giteatest has no such route")
		}
		c := &call{s: s, r: inner, route: name, body: body}
		answer := c.dispatch(route)
		s.compare(name, answer)
		return answer
	})
}

// compare fails the test if a real Gitea was recorded and never sent such a response.
func (s *Server) compare(route string, answer *reply) {
	if s.recorded == nil {
		return
	}
	for _, difference := range s.recorded.compare(route, answer) {
		s.t.Errorf("giteatest: %s answered %d: %s", route, answer.Status, difference)
	}
}

// dispatch checks the parameters, authenticates the request and calls the handler of
// the route.
func (c *call) dispatch(route endpoint) *reply {
	for name := range c.r.URL.Query() {
		if !slices.Contains(strings.Fields(route.query), name) {
			c.s.t.Errorf("giteatest: %s has no parameter %s", c.route, name)
		}
	}
	if c.r.Header.Get("Authorization") == "" {
		c.token = anonymous()
	} else if c.token = c.s.tokens[forgetest.Bearer(c.r)]; c.token == nil {
		return refuse(http.StatusUnauthorized, "invalid username, password or token")
	}
	if refused := lacks(c, route.scope); refused != nil {
		return refused
	}
	c.r = forgetest.WithValues(c.route, c.r)
	return route.handle(c)
}

// lacks returns the refusal of a token without a scope, nil if it has the scope.
func lacks(c *call, category string) *reply {
	level, write := "read:", c.r.Method != http.MethodGet
	if c.token.anonymous() || c.token.has(write, category) {
		return nil
	}
	if write {
		level = "write:"
	}
	return refuse(http.StatusForbidden, "token does not have at least one of required scope(s), required=["+level+category+"], token scope="+strings.Join(c.token.scopes, ","))
}

// admitGit finds the repository and checks the permissions of the token, with Gitea's
// messages. The password is the token; the user name is ignored.
func (s *Server) admitGit(visit gittest.Visit) gittest.Admission {
	_, password, given := visit.Request.BasicAuth()
	key := s.tokens[password]
	if !given {
		key = anonymous()
	}
	repo := s.hub.Find(visit.Name)
	if refused := refuseGit(visit, repo, key); refused != nil {
		return gittest.Admission{Refused: refused}
	}
	return gittest.Admission{
		Repository: repo.Bare, Login: key.owner.Login, Pushed: func() { repo.Follow(key.owner) },
	}
}

func refuseGit(visit gittest.Visit, repo *forgetest.Repository, key *token) http.HandlerFunc {
	switch {
	case key == nil, key.anonymous() && (visit.Pushes || repo == nil || !key.sees(repo)):
		return gittest.Unknown("Gitea", "Failed to authenticate user")
	case repo == nil || repo.Removed || !key.sees(repo):
		return gittest.Refuse(http.StatusNotFound, "Repository not found")
	case !repo.IsNamed(visit.Name):
		return func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/"+repo.FullName()+r.URL.RequestURI()[len("/"+visit.Name):], http.StatusTemporaryRedirect)
		}
	case visit.Pushes && repo.Archived:
		return gittest.Refuse(http.StatusForbidden, "This repo is archived. You can view files and clone it, but cannot push or open issues/pull-requests.")
	case !key.anonymous() && !key.has(visit.Pushes, "repository"), visit.Pushes && !repo.MayPush(key.owner):
		return gittest.Refuse(http.StatusForbidden, "User permission denied")
	}
	return nil
}
