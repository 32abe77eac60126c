package githubtest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxBody     = 1 << 20 // of a request to the API, in bytes
	hourlyLimit = 5000    // requests
)

// object is a JSON object.
type object = map[string]any

// reply is an answer before it is sent.
type reply struct {
	status int
	header http.Header
	body   any // nil: none
}

func ok(body any) *reply { return &reply{status: http.StatusOK, header: http.Header{}, body: body} }

func created(body any) *reply {
	return &reply{status: http.StatusCreated, header: http.Header{}, body: body}
}

func noContent() *reply { return &reply{status: http.StatusNoContent, header: http.Header{}} }

// refuse is an error as GitHub words it.
func refuse(status int, message string) *reply {
	body := object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": itoa(status)}
	return &reply{status: status, header: http.Header{}, body: body}
}

// invalid is a 422 with what is wrong.
func invalid(errs ...any) *reply {
	r := refuse(http.StatusUnprocessableEntity, "Validation Failed")
	r.body.(object)["errors"] = errs
	return r
}

func itoa(n int) string { return strconv.Itoa(n) }

// call is one request to the API.
type call struct {
	*Server
	r     *http.Request
	route string
	body  []byte
	token *token
	repo  *Repository
}

// who is the account of the token.
func (c *call) who() *user { return c.token.owner }

// ServeHTTP serves the API below its prefix, and pages and Git elsewhere.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, prefix+"/") {
		s.servePages(w, r)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		s.t.Errorf("githubtest: %s %s: %v", r.Method, r.URL, err)
		return
	}
	s.happen(s.routeOf(r))
	answer, lose := s.answer(r, body)
	if lose {
		panic(http.ErrAbortHandler)
	}
	answer.send(w)
}

// routeOf is the "METHOD /route" of a request.
func (s *Server) routeOf(r *http.Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, pattern := s.mux.Handler(s.inner(r))
	return pattern
}

// answer carries a request out.
func (s *Server) answer(r *http.Request, body []byte) (answer *reply, lose bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if err, failed := recover().(error); failed {
			s.t.Errorf("githubtest: %s %s: %v", r.Method, r.URL, err)
			answer = refuse(http.StatusInternalServerError, err.Error())
		}
	}()
	inner := s.inner(r)
	c := &call{Server: s, r: inner, body: body}
	handler, pattern := s.mux.Handler(inner)
	c.route = pattern
	s.counts[pattern]++
	one := s.takeTrouble(pattern)
	if one != nil && one.reply != nil {
		return s.finish(one.reply), false
	}
	if blocked := s.limited(); blocked != nil {
		return s.finish(blocked), false
	}
	answer = c.dispatch(handler)
	if answer.status != http.StatusNotImplemented {
		s.judge.check(s.t, inner, body, answer)
	}
	return s.finish(answer.unless(r)), one != nil && one.lose
}

// dispatch finds out who asks and calls the handler of the route.
func (c *call) dispatch(handler http.Handler) *reply {
	route, known := handler.(endpoint)
	if !known {
		c.t.Errorf("githubtest: no route for %s %s", c.r.Method, c.r.URL.Path)
		return refuse(http.StatusNotImplemented, "githubtest has no such route")
	}
	refused := c.authenticate()
	c.asked = append(c.asked, Asked{Route: c.route, Repository: repositoryOf(c.r.URL.Path), By: c.token.name()})
	if refused == nil {
		refused = c.refuseApp()
	}
	if refused != nil {
		return refused
	}
	// The multiplexer fills in the values of the path.
	var answer *reply
	values := http.NewServeMux()
	values.HandleFunc(c.route, func(_ http.ResponseWriter, r *http.Request) { c.r = r; answer = route(c) })
	values.ServeHTTP(nil, c.r)
	if c.token.anonymous() || c.token.app != nil || c.token.installation != nil {
		return answer
	}
	answer.header.Set("X-OAuth-Scopes", strings.Join(c.token.scopes, ", "))
	if answer.header.Get("X-Accepted-OAuth-Scopes") == "" {
		answer.header.Set("X-Accepted-OAuth-Scopes", "repo")
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

// inner is the request as the API sees it: without the prefix, and with
// /repositories/ID, to which moved repositories lead, put into words.
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

// unless is the answer, or that it is the one the client has already.
func (a *reply) unless(r *http.Request) *reply {
	if r.Method != http.MethodGet || a.status != http.StatusOK {
		return a
	}
	tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(a.text()))
	a.header.Set("ETag", tag)
	a.header.Set("Cache-Control", "private, max-age=60, s-maxage=60")
	if r.Header.Get("If-None-Match") == tag {
		a.status, a.body = http.StatusNotModified, nil
	}
	return a
}

// finish adds the headers of every answer. One that was not modified costs
// nothing.
func (s *Server) finish(answer *reply) *reply {
	if answer.status != http.StatusNotModified {
		s.used++
	}
	for name, value := range map[string]string{
		"X-RateLimit-Limit": itoa(hourlyLimit), "X-RateLimit-Remaining": itoa(hourlyLimit - s.used), "X-RateLimit-Used": itoa(s.used),
		"X-RateLimit-Reset": itoa(int(s.now().Add(time.Hour).Unix())), "X-RateLimit-Resource": "core",
		"X-GitHub-Request-Id": fmt.Sprintf("%X", s.next()), "Content-Type": "application/json; charset=utf-8",
		"Date": s.now().UTC().Format(http.TimeFormat),
	} {
		if answer.header.Get(name) == "" {
			answer.header.Set(name, value)
		}
	}
	return answer
}

// send writes the answer.
func (a *reply) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	if a.body == nil {
		w.Header().Del("Content-Type")
		w.WriteHeader(a.status)
		return
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.text()) // a client that went away wants no answer
}

func (a *reply) text() []byte {
	text, err := json.Marshal(a.body)
	if err != nil {
		panic(err) // of values that this package made
	}
	return text
}
