package giteatest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

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
	r := refuse(http.StatusNotFound, "The target couldn't be found.")
	r.Body.(object)["errors"] = []string{}
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
}

// who returns the account of the token.
func (c *call) who() *user { return c.token.owner }

// ServeHTTP serves the API below its prefix and Git elsewhere.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, prefix+"/") {
		s.serveGit(w, r)
		return
	}
	inner := r.Clone(r.Context())
	inner.URL.Path = strings.TrimPrefix(r.URL.Path, prefix)
	inner.URL.RawPath = strings.TrimPrefix(r.URL.EscapedPath(), prefix)
	handler, route := s.mux.Handler(inner)
	s.front.Serve(w, r, route, func(body []byte) *reply {
		c := &call{s: s, r: inner, route: route, body: body}
		return c.dispatch(handler)
	})
}

// dispatch checks the parameters, authenticates the request and calls the handler of
// the route.
func (c *call) dispatch(handler http.Handler) *reply {
	route, known := handler.(endpoint)
	if !known {
		c.s.t.Errorf("giteatest: no route for %s %s", c.r.Method, c.r.URL.Path)
		return refuse(http.StatusNotImplemented, "giteatest has no such route")
	}
	for name := range c.r.URL.Query() {
		if !slices.Contains(strings.Fields(route.query), name) {
			c.s.t.Errorf("giteatest: %s has no parameter %s", c.route, name)
		}
	}
	if c.r.Header.Get("Authorization") == "" {
		c.token = c.s.anonymous()
	} else if c.token = c.s.tokens[bearer(c.r)]; c.token == nil {
		return refuse(http.StatusUnauthorized, "invalid username, password or token")
	}
	if refused := lacks(c, route.scope); refused != nil {
		return refused
	}
	c.r = forgetest.WithValues(c.route, c.r)
	return route.handle(c)
}

func bearer(r *http.Request) string {
	kind, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "bearer") && !strings.EqualFold(kind, "token") {
		return ""
	}
	return text
}
