package github

import (
	"encoding/json"
	"net/http"
	"strings"

	"promoter/internal/scm/rest"
)

// limits describes how GitHub reports its rate limits.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
func limits() rest.Limits { return rest.Limits{Prefix: "X-Ratelimit-", Refused: limited} }

// limited reports whether a response is a rate limit, and returns its message. A
// missing permission is a 403 too.
func limited(resp *http.Response, data []byte) (words string, refused bool) {
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return "", false
	}
	var body struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(data, &body) // no message if this fails
	said := strings.ToLower(body.Message)
	refused = resp.StatusCode == http.StatusTooManyRequests ||
		resp.Header.Get("X-RateLimit-Remaining") == "0" || resp.Header.Get("Retry-After") != "" ||
		strings.Contains(said, "rate limit") || strings.Contains(said, "abuse detection")
	return rest.OneLine(body.Message), refused
}
