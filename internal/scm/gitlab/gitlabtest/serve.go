package gitlabtest

import (
	"net/http"
	"strconv"
	"strings"

	"promoter/internal/git/gittest"
	"promoter/internal/scm/forgetest"
)

const (
	prefix  = "/api/v4"
	maxBody = 8 << 20 // of a request to the API, in bytes
)

// object is a JSON object.
type object = map[string]any

// reply is a response before it is sent.
type reply = forgetest.Reply

func answer(status int, body any) *reply { return forgetest.Answer(status, body) }

func ok(body any) *reply { return answer(http.StatusOK, body) }

func created(body any) *reply { return answer(http.StatusCreated, body) }

// refuse returns an error in GitLab's usual form.
func refuse(status int, message any) *reply { return answer(status, object{"message": message}) }

func notFound(what string) *reply { return refuse(http.StatusNotFound, "404 "+what+"Not Found") }

func forbidden() *reply { return refuse(http.StatusForbidden, "403 Forbidden") }

func unauthorized() *reply { return refuse(http.StatusUnauthorized, "401 Unauthorized") }

// invalid returns a refusal for one field.
func invalid(field, words string) *reply {
	return refuse(http.StatusBadRequest, object{field: []string{words}})
}

func itoa[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// call is one request to the API.
type call struct {
	s       *Server
	r       *http.Request
	route   string
	body    []byte
	params  object
	token   *token // nil: anonymous
	project *Project
}

// who returns the account of the token.
func (c *call) who() *user {
	if c.token == nil {
		return &user{}
	}
	return c.token.owner
}

// ServeHTTP serves the API below its prefix and Git elsewhere.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, below := strings.CutPrefix(r.URL.EscapedPath(), s.options.Root)
	if !below {
		http.NotFound(w, r)
		return
	}
	if !strings.HasPrefix(path, prefix+"/") {
		s.hub.ServeGit(w, r, s.admitGit)
		return
	}
	inner := forgetest.Below(r, s.options.Root+prefix)
	route, name, known := s.routes.Find(inner)
	s.hub.Front.Serve(w, r, name, func(body []byte) *reply {
		if !known {
			s.t.Errorf("gitlabtest: no route for %s %s", inner.Method, inner.URL.EscapedPath())
			return refuse(http.StatusNotImplemented, "gitlabtest has no such route")
		}
		c := &call{s: s, r: inner, route: name, body: body}
		return c.dispatch(route).Unless(r, "max-age=0, private, must-revalidate")
	})
}

// dispatch authenticates the request, reads the parameters and calls the handler.
func (c *call) dispatch(route endpoint) *reply {
	if refused := c.authenticate(); refused != nil {
		return refused
	}
	if refused := c.read(route.params); refused != nil {
		return refused
	}
	c.r = forgetest.WithValues(c.route, c.r)
	return route.handle(c)
}

// authenticate accepts a token in either of the headers, and checks its scopes.
func (c *call) authenticate() *reply {
	text := c.r.Header.Get("Private-Token")
	if bearer, found := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer "); found {
		text = bearer
	}
	if text == "" {
		return nil
	}
	c.token = c.s.tokens[text]
	switch {
	case c.token == nil:
		return unauthorized()
	case c.token.revoked:
		return answer(http.StatusUnauthorized, object{
			"error": "invalid_token", "error_description": "Token was revoked. You have to re-authorize from the user.",
		})
	}
	wanted := []string{"api", "read_api"}
	if c.r.Method != http.MethodGet {
		wanted = wanted[:1]
	}
	if !c.token.has(wanted...) {
		return answer(http.StatusForbidden, object{
			"error": "insufficient_scope", "scope": strings.Join(wanted, " "),
			"error_description": "The request requires higher privileges than provided by the access token.",
		})
	}
	return nil
}

// admitGit finds the project and checks the permissions of the token, with GitLab's
// messages. A former path works for Git like the current one.
func (s *Server) admitGit(visit gittest.Visit) gittest.Admission {
	name, password, given := visit.Request.BasicAuth()
	if given && name == "" {
		s.t.Errorf("gitlabtest: Git gives a token without a name")
	}
	key := s.tokens[password]
	var p *Project
	if found := s.hub.Find(visit.Name); found != nil {
		p = own(found)
	}
	if refused := s.refuseGit(visit, p, key, given); refused != nil {
		return gittest.Admission{Refused: refused}
	}
	by := &user{}
	if key != nil {
		by = key.owner
	}
	if visit.Pushes {
		guardAgainst(p, by)
	}
	return gittest.Admission{Repository: p.model.Bare, Login: by.Login, Pushed: func() { p.model.Follow(by) }}
}

// guardAgainst makes Git reject what an account may not push. Git has no accounts:
// this applies to the next push.
func guardAgainst(p *Project, by *user) {
	var denied []string
	for branch := range p.model.Bare.Heads() {
		if !p.mayPush(by, branch) {
			denied = append(denied, branch)
		}
	}
	p.model.Bare.Protect(denied...)
}

func (s *Server) refuseGit(visit gittest.Visit, p *Project, key *token, given bool) http.HandlerFunc {
	unknown := key == nil || key.revoked || !key.has("api", "write_repository", "read_repository")
	by := &user{}
	if key != nil {
		by = key.owner
	}
	seen := p != nil && !p.model.Removed && p.visible(by)
	switch {
	case given && unknown, !given && (visit.Pushes || !seen):
		return gittest.Unknown("GitLab", "HTTP Basic: Access denied. If a password was provided for Git authentication, the password was incorrect or you're required to use a token instead of a password.")
	case !seen:
		return gittest.Refuse(http.StatusNotFound, "The project you were looking for could not be found or you don't have permission to view it.")
	case visit.Pushes && p.model.Archived:
		return gittest.Refuse(http.StatusForbidden, "You can't push code to an archived project.")
	case visit.Pushes && (!p.is(by, Developer) || !key.has("api", "write_repository")):
		return gittest.Refuse(http.StatusForbidden, "You are not allowed to push code to this project.")
	}
	return nil
}
