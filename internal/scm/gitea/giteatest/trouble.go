package giteatest

import (
	"net/http"
	"time"

	"promoter/internal/scm/forgetest"
)

// Fail sends a status and a message to the next request whose "METHOD /route"
// contains the text, without executing it.
func (s *Server) Fail(route string, status int, message string) {
	s.front.Fail(route, refuse(status, message))
}

// Collide fails the next write as Gitea does when two writes collide.
func (s *Server) Collide() {
	s.Fail(forgetest.AnyWrite, http.StatusForbidden, "push failed: cannot lock ref 'refs/pull/1/head': reference already exists")
}

// Limit rejects all requests to the API as a rate limiting proxy does, until the
// time: with Retry-After, or with the headers of an exhausted limit.
func (s *Server) Limit(headers bool, until time.Time) {
	s.front.Limit(until, func(now time.Time) *reply { return limited(headers, until, now) })
}

// limited returns the reply of a rate limit in effect.
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
