package githubtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"promoter/internal/scm/forgetest"
)

const (
	maxBody     = 1 << 20 // of a request to the API, in bytes
	hourlyLimit = 5000    // requests
)

// object is a JSON object.
type object = map[string]any

// reply is a response before it is sent.
type reply = forgetest.Reply

func ok(body any) *reply { return forgetest.Answer(http.StatusOK, body) }

func created(body any) *reply { return forgetest.Answer(http.StatusCreated, body) }

func noContent() *reply { return forgetest.Answer(http.StatusNoContent, nil) }

// refuse returns an error in GitHub's form.
func refuse(status int, message string) *reply {
	return forgetest.Answer(status, object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": itoa(status)})
}

// invalid returns a 422 with the errors.
func invalid(errs ...any) *reply {
	r := refuse(http.StatusUnprocessableEntity, "Validation Failed")
	r.Body.(object)["errors"] = errs
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

// ServeHTTP serves the API below its prefix, and pages and Git elsewhere.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, prefix+"/") {
		s.servePages(w, r)
		return
	}
	s.front.Serve(w, r, s.routeOf(r), func(body []byte) *reply { return s.answer(r, body) })
}

// routeOf returns the "METHOD /route" of a request.
func (s *Server) routeOf(r *http.Request) string {
	var route string
	s.act(func() { _, route = s.mux.Handler(s.inner(r)) })
	return route
}

// answer executes a request.
func (s *Server) answer(r *http.Request, body []byte) *reply {
	inner := s.inner(r)
	handler, route := s.mux.Handler(inner)
	c := &call{s: s, r: inner, route: route, body: body}
	answer := c.dispatch(handler)
	if answer.Status != http.StatusNotImplemented {
		s.judge.check(s.t, inner, body, answer)
	}
	return answer.Unless(r, "private, max-age=60, s-maxage=60")
}

// dispatch authenticates the request and calls the handler of the route.
func (c *call) dispatch(handler http.Handler) *reply {
	route, known := handler.(endpoint)
	if !known {
		c.s.t.Errorf("githubtest: no route for %s %s", c.r.Method, c.r.URL.Path)
		return refuse(http.StatusNotImplemented, "githubtest has no such route")
	}
	refused := c.authenticate()
	c.s.asked = append(c.s.asked, Asked{Route: c.route, Repository: repositoryOf(c.r.URL.Path), By: c.token.name()})
	if refused == nil {
		refused = refuseApp(c)
	}
	if refused != nil {
		return refused
	}
	c.r = forgetest.WithValues(c.route, c.r)
	answer := route(c)
	if c.token.anonymous() || c.token.app != nil || c.token.installation != nil {
		return answer
	}
	answer.Header.Set("X-OAuth-Scopes", strings.Join(c.token.scopes, ", "))
	if answer.Header.Get("X-Accepted-OAuth-Scopes") == "" {
		answer.Header.Set("X-Accepted-OAuth-Scopes", "repo")
	}
	return answer
}

func bearer(r *http.Request) string {
	kind, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "bearer") && !strings.EqualFold(kind, "token") {
		return ""
	}
	return text
}

// inner returns the request without the prefix, and with /repositories/ID, to which
// renamed repositories redirect, replaced by the name.
func (s *Server) inner(r *http.Request) *http.Request {
	inner := r.Clone(r.Context())
	inner.URL.Path = strings.TrimPrefix(r.URL.Path, prefix)
	inner.URL.RawPath = strings.TrimPrefix(r.URL.EscapedPath(), prefix)
	rest, byID := strings.CutPrefix(inner.URL.RawPath, "/repositories/")
	if !byID {
		return inner
	}
	number, rest, _ := strings.Cut(rest, "/")
	id, _ := strconv.ParseInt(number, 10, 64)
	if repo := s.repos[id]; repo != nil {
		inner.URL.Path = strings.TrimSuffix("/repos/"+repo.fullName()+"/"+rest, "/")
		inner.URL.RawPath = ""
	}
	return inner
}

// finish adds the headers of every response. A "not modified" response does not count
// against the rate limit.
func (s *Server) finish(answer *reply) {
	if answer.Status != http.StatusNotModified {
		s.used++
	}
	for name, value := range map[string]string{
		"X-RateLimit-Limit": itoa(hourlyLimit), "X-RateLimit-Remaining": itoa(hourlyLimit - s.used), "X-RateLimit-Used": itoa(s.used),
		"X-RateLimit-Reset": itoa(int(s.now().Add(time.Hour).Unix())), "X-RateLimit-Resource": "core",
		"X-GitHub-Request-Id": fmt.Sprintf("%X", s.next()),
		"Date":                s.now().UTC().Format(http.TimeFormat),
	} {
		if answer.Header.Get(name) == "" {
			answer.Header.Set(name, value)
		}
	}
}
