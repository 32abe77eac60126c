package gitea

import (
	"encoding/json"
	"net/http"

	"promoter/internal/scm/rest"
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
	var body struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(data, &body) // no message if this fails
	if body.Message == "" {
		body.Message = http.StatusText(resp.StatusCode)
	}
	return rest.OneLine(body.Message), true
}
