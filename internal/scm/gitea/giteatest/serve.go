package giteatest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const maxBody = 1 << 20 // of a request to the API, in bytes

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

func bare(status int) *reply { return &reply{status: status, header: http.Header{}} }

// refuse is an error as Gitea words it.
func refuse(status int, message string) *reply {
	return &reply{status: status, header: http.Header{}, body: object{"message": message, "url": "https://gitea.example.com/api/swagger"}}
}

// notFound is the one answer for what is not there and what may not be seen.
func notFound() *reply {
	r := refuse(http.StatusNotFound, "The target couldn't be found.")
	r.body.(object)["errors"] = []string{}
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

// ServeHTTP serves the API below its prefix and Git elsewhere.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, prefix+"/") {
		s.serveGit(w, r)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		s.t.Errorf("giteatest: %s %s: %v", r.Method, r.URL, err)
		return
	}
	inner := r.Clone(r.Context())
	inner.URL.Path = strings.TrimPrefix(r.URL.Path, prefix)
	inner.URL.RawPath = strings.TrimPrefix(r.URL.EscapedPath(), prefix)
	handler, route := s.mux.Handler(inner)
	s.happen(route)
	answer, lose := s.answer(&call{Server: s, r: inner, route: route, body: body}, handler)
	if lose {
		panic(http.ErrAbortHandler)
	}
	answer.send(w)
}

// answer carries a request out.
func (s *Server) answer(c *call, handler http.Handler) (answer *reply, lose bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if err, failed := recover().(error); failed {
			s.t.Errorf("giteatest: %s %s: %v", c.r.Method, c.r.URL, err)
			answer = refuse(http.StatusInternalServerError, err.Error())
		}
	}()
	s.counts[c.route]++
	one := s.takeTrouble(c.route)
	if one != nil && one.reply != nil {
		return one.reply, false
	}
	if blocked := s.limited(); blocked != nil {
		return blocked, false
	}
	return c.dispatch(handler), one != nil && one.lose
}

// dispatch checks the parameters, finds out who asks and calls the handler of the
// route.
func (c *call) dispatch(handler http.Handler) *reply {
	route, known := handler.(endpoint)
	if !known {
		c.t.Errorf("giteatest: no route for %s %s", c.r.Method, c.r.URL.Path)
		return refuse(http.StatusNotImplemented, "giteatest has no such route")
	}
	for name := range c.r.URL.Query() {
		if !slices.Contains(strings.Fields(route.query), name) {
			c.t.Errorf("giteatest: %s has no parameter %s", c.route, name)
		}
	}
	if c.r.Header.Get("Authorization") == "" {
		c.token = c.anonymous()
	} else if c.token = c.tokens[bearer(c.r)]; c.token == nil {
		return refuse(http.StatusUnauthorized, "invalid username, password or token")
	}
	if refused := c.lacks(route.scope); refused != nil {
		return refused
	}
	// The multiplexer fills in the values of the path.
	var answer *reply
	values := http.NewServeMux()
	values.HandleFunc(c.route, func(_ http.ResponseWriter, r *http.Request) { c.r = r; answer = route.handle(c) })
	values.ServeHTTP(nil, c.r)
	return answer
}

func bearer(r *http.Request) string {
	kind, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "bearer") && !strings.EqualFold(kind, "token") {
		return ""
	}
	return text
}

// send writes the answer.
func (a *reply) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(a.status)
	text, err := json.Marshal(a.body)
	if err != nil {
		panic(err) // of values that this package made
	}
	_, _ = w.Write(text) // a client that went away wants no answer
}
