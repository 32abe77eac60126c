package giteatest

import (
	"net/http"
	"time"

	"promoter/internal/scm/forgetest"
)

// Fail answers the next request whose "METHOD /route" contains the text with a
// status and a message, and carries nothing out.
func (s *Server) Fail(route string, status int, message string) {
	s.front.Fail(route, refuse(status, message))
}

// Collide answers the next write as Gitea does when two of them meet.
func (s *Server) Collide() {
	s.Fail(forgetest.AnyWrite, http.StatusForbidden, "push failed: cannot lock ref 'refs/pull/1/head': reference already exists")
}

// Limit answers all requests to the API as a proxy with a rate limit does, until the
// time: with Retry-After, or with the headers of a used up limit.
func (s *Server) Limit(headers bool, until time.Time) {
	s.front.Limit(until, func(now time.Time) *reply { return limited(headers, until, now) })
}

// limited is the answer of a rate limit that is in force.
func limited(headers bool, until, now time.Time) *reply {
	r := refuse(http.StatusTooManyRequests, "Too many requests")
	if headers {
		r.Header.Set("X-RateLimit-Remaining", "0")
		r.Header.Set("X-RateLimit-Reset", itoa(int(until.Unix())))
		return r
	}
	r.Header.Set("Retry-After", itoa(int(until.Sub(now).Seconds())+1))
	return r
}
