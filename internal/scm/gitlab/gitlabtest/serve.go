package gitlabtest

import (
	"net/http"
	"strconv"
	"strings"

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

func itoa(n int) string { return strconv.Itoa(n) }

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
		http.StripPrefix(s.options.Root, http.HandlerFunc(s.serveGit)).ServeHTTP(w, r)
		return
	}
	inner := s.inner(r)
	handler, route := s.mux.Handler(inner)
	s.front.Serve(w, r, route, func(body []byte) *reply {
		c := &call{s: s, r: inner, route: route, body: body}
		return c.dispatch(handler).Unless(r, "max-age=0, private, must-revalidate")
	})
}

// inner returns the request below the API.
func (s *Server) inner(r *http.Request) *http.Request {
	inner := r.Clone(r.Context())
	inner.URL.Path = strings.TrimPrefix(r.URL.Path, s.options.Root+prefix)
	inner.URL.RawPath = strings.TrimPrefix(r.URL.EscapedPath(), s.options.Root+prefix)
	return inner
}

// dispatch authenticates the request, reads the parameters and calls the handler.
func (c *call) dispatch(handler http.Handler) *reply {
	route, known := handler.(endpoint)
	if !known {
		c.s.t.Errorf("gitlabtest: no route for %s %s", c.r.Method, c.r.URL.EscapedPath())
		return refuse(http.StatusNotImplemented, "gitlabtest has no such route")
	}
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
