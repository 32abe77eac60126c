package giteatest

import (
	"net/http"
	"strings"
	"time"
)

// trouble is what happens to one request that matches.
type trouble struct {
	route string
	lose  bool // carry it out and break the connection
	reply *reply
}

// Watch lets somebody see every request, as "METHOD /route", just before it is
// looked at: a person or another process may be faster. Nil ends it.
func (s *Server) Watch(see func(route string)) { s.act(func() { s.watcher = see }) }

// happen shows a request to who watches.
func (s *Server) happen(route string) {
	s.mu.Lock()
	see := s.watcher
	s.mu.Unlock()
	if see != nil {
		see(route)
	}
}

// writes says whether a route of the API changes anything.
func writes(route string) bool { return !strings.HasPrefix(route, "G") } // GET, GIT

// AnyWrite stands for the route of every request to the API that is no GET.
const AnyWrite = "WRITE"

// Lose carries the next request whose "METHOD /route" contains the text out and
// breaks the connection instead of answering.
func (s *Server) Lose(route string) { s.trouble(&trouble{route: route, lose: true}) }

// Fail answers the next request whose "METHOD /route" contains the text with a
// status and a message, and carries nothing out.
func (s *Server) Fail(route string, status int, message string) {
	s.trouble(&trouble{route: route, reply: refuse(status, message)})
}

// Collide answers the next write as Gitea does when two of them meet.
func (s *Server) Collide() {
	s.Fail(AnyWrite, http.StatusForbidden, "push failed: cannot lock ref 'refs/pull/1/head': reference already exists")
}

func (s *Server) trouble(one *trouble) {
	s.act(func() { s.troubles = append(s.troubles, one) })
}

// Limit answers all requests to the API as a proxy with a rate limit does, until the
// time: with Retry-After, or with the headers of a used up limit.
func (s *Server) Limit(headers bool, until time.Time) {
	s.act(func() { s.until, s.header = until, headers })
}

// Lift ends the rate limit.
func (s *Server) Lift() { s.act(func() { s.until = time.Time{} }) }

// takeTrouble returns the first trouble for a route and forgets it.
func (s *Server) takeTrouble(route string) *trouble {
	for i, one := range s.troubles {
		if one.route == AnyWrite && writes(route) || strings.Contains(route, one.route) {
			s.troubles = append(s.troubles[:i:i], s.troubles[i+1:]...)
			return one
		}
	}
	return nil
}

// limited returns the answer of a rate limit that is in force.
func (s *Server) limited() *reply {
	if !s.now().Before(s.until) {
		return nil
	}
	r := refuse(http.StatusTooManyRequests, "Too many requests")
	if s.header {
		r.header.Set("X-RateLimit-Remaining", "0")
		r.header.Set("X-RateLimit-Reset", itoa(int(s.until.Unix())))
		return r
	}
	r.header.Set("Retry-After", itoa(int(s.until.Sub(s.now()).Seconds())+1))
	return r
}
