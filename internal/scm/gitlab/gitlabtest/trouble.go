package gitlabtest

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

// limit answers everything until a time.
type limit struct {
	until    time.Time
	endpoint bool
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

func (s *Server) trouble(one *trouble) {
	s.act(func() { s.troubles = append(s.troubles, one) })
}

// Limit answers all requests to the API with a limit until the time: that of the
// server with its headers and in plain words, or that of an endpoint.
func (s *Server) Limit(endpoint bool, until time.Time) {
	s.act(func() { s.limit = &limit{until: until, endpoint: endpoint} })
}

// Lift ends the limit.
func (s *Server) Lift() { s.act(func() { s.limit = nil }) }

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

// limited returns the answer of a limit that is in force.
// https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers
func (s *Server) limited() *reply {
	if s.limit == nil || !s.options.Now().Before(s.limit.until) {
		return nil
	}
	wait := itoa(int(s.limit.until.Sub(s.options.Now()).Seconds()) + 1)
	if s.limit.endpoint {
		told := refuse(http.StatusTooManyRequests, object{"error": "This endpoint has been requested too many times. Try again later."})
		told.header.Set("Retry-After", wait)
		return told
	}
	told := &reply{status: http.StatusTooManyRequests, header: http.Header{}, plain: "Retry later\n"}
	told.header.Set("Content-Type", "text/plain")
	for name, value := range map[string]string{
		"RateLimit-Limit": "2000", "RateLimit-Name": "throttle_authenticated_api", "RateLimit-Observed": "2001",
		"RateLimit-Remaining": "0", "RateLimit-Reset": itoa(int(s.limit.until.Unix())), "Retry-After": wait,
	} {
		told.header.Set(name, value)
	}
	return told
}
