package outbound

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Answer is a request that was sent, with what came of it. It holds no path and no
// header: they may hold a credential.
type Answer struct {
	Method string
	Host   string // host or host:port
	Route  string // the form of its path
	Status int    // of HTTP; zero: there was no answer
	// Remaining is how many requests the server still allows; below zero: it does not
	// say.
	Remaining int
	// Skew is what the clock of the server is ahead of ours, to about a second; zero
	// where it does not say.
	Skew  time.Duration
	Began time.Time
	Took  time.Duration // until the head of the answer
}

// observed sends a request and tells of it.
func (c *Client) observed(req *http.Request, via http.RoundTripper) (*http.Response, error) {
	begin := c.options.Now()
	resp, err := via.RoundTrip(req)
	end := c.options.Now()
	told := Answer{
		Method: req.Method, Host: req.URL.Host, Route: Route(req.URL.EscapedPath()),
		Remaining: -1, Began: begin, Took: end.Sub(begin),
	}
	if resp != nil {
		if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			told.Skew = at.Sub(end)
		}
		told.Status, told.Remaining = resp.StatusCode, remaining(resp.Header)
	}
	c.options.Observe(req.Context(), told)
	return resp, err
}

// remaining reads the headers of GitHub, Gitea and GitLab. GitHub has limits of their
// own for searches and the like, which would hide the one that counts.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
// https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/
func remaining(head http.Header) int {
	if resource := head.Get("X-Ratelimit-Resource"); resource != "" && resource != "core" {
		return -1
	}
	for _, name := range []string{"X-Ratelimit-Remaining", "Ratelimit-Remaining"} {
		value, _, _ := strings.Cut(head.Get(name), ";") // Docker Hub adds the length of its time
		if n, err := strconv.ParseInt(value, 10, 32); err == nil && n >= 0 {
			return int(n)
		}
	}
	return -1
}
