package githubtest

import (
	"net/http"
	"time"
)

// limit rejects all requests until a time.
type limit struct {
	until     time.Time
	secondary bool
}

// Fail sends a status and a message to the next request whose "METHOD /route"
// contains the text, without executing it.
func (s *Server) Fail(route string, status int, message string) {
	s.front.Fail(route, refuse(status, message))
}

// Limit rejects all requests to the API with a rate limit until the time: the primary
// one with its headers, the secondary one with Retry-After.
func (s *Server) Limit(secondary bool, until time.Time) {
	s.front.Limit(until, (&limit{until: until, secondary: secondary}).reply)
}

// reply returns the refusal of a limit.
func (l *limit) reply(now time.Time) *reply {
	if l.secondary {
		r := refuse(http.StatusForbidden, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
		seconds := int(l.until.Sub(now).Seconds()) + 1
		r.Header.Set("Retry-After", itoa(seconds))
		return r
	}
	r := refuse(http.StatusForbidden, "API rate limit exceeded for user ID 1.")
	r.Header.Set("X-RateLimit-Remaining", "0")
	r.Header.Set("X-RateLimit-Reset", itoa(int(l.until.Unix())))
	return r
}
