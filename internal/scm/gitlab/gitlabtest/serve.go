package gitlabtest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

const (
	prefix  = "/api/v4"
	maxBody = 8 << 20 // of a request to the API, in bytes
)

// object is a JSON object.
type object = map[string]any

// reply is an answer before it is sent.
type reply struct {
	status int
	header http.Header
	body   any
	plain  string // instead of a body
}

func answer(status int, body any) *reply {
	return &reply{status: status, header: http.Header{}, body: body}
}

func ok(body any) *reply { return answer(http.StatusOK, body) }

func created(body any) *reply { return answer(http.StatusCreated, body) }

// refuse is an error as GitLab words most.
func refuse(status int, message any) *reply { return answer(status, object{"message": message}) }

func notFound(what string) *reply { return refuse(http.StatusNotFound, "404 "+what+"Not Found") }

func forbidden() *reply { return refuse(http.StatusForbidden, "403 Forbidden") }

func unauthorised() *reply { return refuse(http.StatusUnauthorized, "401 Unauthorized") }

// invalid is a refusal for one field.
func invalid(field, words string) *reply {
	return refuse(http.StatusBadRequest, object{field: []string{words}})
}

func itoa(n int) string { return strconv.Itoa(n) }

// call is one request to the API.
type call struct {
	*Server
	r       *http.Request
	route   string
	body    []byte
	params  object
	token   *token // nil: none was sent
	project *Project
}

// who is the account of the token.
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
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		s.t.Errorf("gitlabtest: %s %s: %v", r.Method, r.URL, err)
		return
	}
	inner := s.inner(r)
	_, pattern := s.mux.Handler(inner)
	s.happen(pattern)
	told, lose := s.answer(inner, pattern, body)
	if lose {
		panic(http.ErrAbortHandler)
	}
	told.send(w)
}

// inner is the request below the API.
func (s *Server) inner(r *http.Request) *http.Request {
	inner := r.Clone(r.Context())
	inner.URL.Path = strings.TrimPrefix(r.URL.Path, s.options.Root+prefix)
	inner.URL.RawPath = strings.TrimPrefix(r.URL.EscapedPath(), s.options.Root+prefix)
	return inner
}

// answer carries a request out.
func (s *Server) answer(r *http.Request, pattern string, body []byte) (told *reply, lose bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if err, failed := recover().(error); failed {
			s.t.Errorf("gitlabtest: %s %s: %v", r.Method, r.URL, err)
			told = refuse(http.StatusInternalServerError, "500 Internal Server Error")
		}
	}()
	s.counts[pattern]++
	one := s.takeTrouble(pattern)
	if one != nil && one.reply != nil {
		return one.reply, false
	}
	if blocked := s.limited(); blocked != nil {
		return blocked, false
	}
	c := &call{Server: s, r: r, route: pattern, body: body}
	return c.dispatch().unless(r), one != nil && one.lose
}

// dispatch finds out who asks, reads the parameters and calls the handler.
func (c *call) dispatch() *reply {
	handler, _ := c.mux.Handler(c.r)
	route, known := handler.(endpoint)
	if !known {
		c.t.Errorf("gitlabtest: no route for %s %s", c.r.Method, c.r.URL.EscapedPath())
		return refuse(http.StatusNotImplemented, "gitlabtest has no such route")
	}
	if refused := c.authenticate(); refused != nil {
		return refused
	}
	if refused := c.read(route.params); refused != nil {
		return refused
	}
	var told *reply
	values := http.NewServeMux() // fills in the values of the path
	values.HandleFunc(c.route, func(_ http.ResponseWriter, r *http.Request) { c.r = r; told = route.handle(c) })
	values.ServeHTTP(nil, c.r)
	return told
}

// authenticate takes a token in either of the headers, and looks at its scopes.
func (c *call) authenticate() *reply {
	text := c.r.Header.Get("Private-Token")
	if bearer, found := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer "); found {
		text = bearer
	}
	if text == "" {
		return nil
	}
	c.token = c.tokens[text]
	switch {
	case c.token == nil:
		return unauthorised()
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

// unless answers "not modified" to who knows it already.
func (a *reply) unless(r *http.Request) *reply {
	if r.Method != http.MethodGet || a.status != http.StatusOK {
		return a
	}
	tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(a.text()))
	a.header.Set("ETag", tag)
	a.header.Set("Cache-Control", "max-age=0, private, must-revalidate")
	if r.Header.Get("If-None-Match") == tag {
		a.status, a.body = http.StatusNotModified, nil
	}
	return a
}

// send writes the answer.
func (a *reply) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	if a.body == nil && a.plain == "" {
		w.WriteHeader(a.status)
		return
	}
	if a.plain == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.text()) // a client that went away wants no answer
}

func (a *reply) text() []byte {
	if a.plain != "" {
		return []byte(a.plain)
	}
	text, err := json.Marshal(a.body)
	if err != nil {
		panic(err) // of values that this package made
	}
	return text
}
