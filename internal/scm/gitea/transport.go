package gitea

import (
	"net/http"
	"strings"
)

// limitPrefix is the prefix of rate limit headers. Gitea itself sends none; proxies
// do.
const limitPrefix = "X-Ratelimit-"

// limited reports whether a response is a rate limit. Gitea has none of its own: a
// proxy, or a public server's, responds with 429.
func limited(resp *http.Response, data []byte) (words string, refused bool) {
	if resp.StatusCode != http.StatusTooManyRequests {
		return "", false
	}
	if words = wordsIn(resp.StatusCode, data); words == "" {
		words = http.StatusText(resp.StatusCode)
	}
	return words, true
}

// Query parameters for which the library has no options.
const (
	// brief omits data of commits that is not used here: files, statistics and
	// signature verification, each of which costs the server a run of Git.
	brief = "files=false&stat=false&verification=false"
	// byIndex sorts statuses by index, highest first, as the parameter implies:
	// sorted by time, statuses of the same second may change their order between
	// pages.
	byIndex = "sort=leastindex"
)

// wishing adds parameters to the query of every request.
type wishing struct {
	next   http.RoundTripper
	wishes string
}

// RoundTrip sends a copy of the request with the additional parameters.
func (w wishing) RoundTrip(req *http.Request) (*http.Response, error) {
	asked := req.Clone(req.Context())
	asked.URL.RawQuery = strings.TrimPrefix(asked.URL.RawQuery+"&"+w.wishes, "&")
	return w.next.RoundTrip(asked)
}

// wishing returns the client for requests with additional parameters.
func (f *Forge) wishing(wishes string) *http.Client {
	client := *f.http
	client.Transport = wishing{f.http.Transport, wishes}
	return &client
}
