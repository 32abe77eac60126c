package gitea

import (
	"encoding/json"
	"net/http"

	"promoter/internal/scm/rest"
)

// limitPrefix begins the headers of limits. Gitea itself sends none; proxies before
// it do.
const limitPrefix = "X-Ratelimit-"

// limited says that an answer is a limit. Gitea has none of its own: a proxy before
// it, or a public server's, answers 429.
func limited(resp *http.Response, data []byte) (words string, refused bool) {
	if resp.StatusCode != http.StatusTooManyRequests {
		return "", false
	}
	var body struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(data, &body) // else there are no words
	if body.Message == "" {
		body.Message = http.StatusText(resp.StatusCode)
	}
	return rest.OneLine(body.Message), true
}
