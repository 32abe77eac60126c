package gitlabtest

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

// Limit rejects all requests to the API with a limit until the time: that of the
// server with its headers and in plain text, or that of an endpoint.
func (s *Server) Limit(endpoint bool, until time.Time) {
	s.front.Limit(until, func(now time.Time) *reply { return limited(endpoint, until, now) })
}

// limited returns the reply of a limit in effect.
// https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers
func limited(endpoint bool, until, now time.Time) *reply {
	wait := itoa(int(until.Sub(now).Seconds()) + 1)
	if endpoint {
		told := refuse(http.StatusTooManyRequests, object{"error": "This endpoint has been requested too many times. Try again later."})
		told.Header.Set("Retry-After", wait)
		return told
	}
	told := answer(http.StatusTooManyRequests, forgetest.Plain("Retry later\n"))
	told.Header.Set("Content-Type", "text/plain")
	for name, value := range map[string]string{
		"RateLimit-Limit": "2000", "RateLimit-Name": "throttle_authenticated_api", "RateLimit-Observed": "2001",
		"RateLimit-Remaining": "0", "RateLimit-Reset": itoa(int(until.Unix())), "Retry-After": wait,
	} {
		told.Header.Set(name, value)
	}
	return told
}
