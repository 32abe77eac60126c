package gitlab

import (
	"net/http"

	"promoter/internal/scm/rest"
)

// limits describes how GitLab reports its rate limits: 429 with Retry-After, and
// RateLimit headers before that. A limit of one kind of request is applied to all of
// them.
// https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers
func limits() rest.Limits { return rest.Limits{Prefix: "Ratelimit-", Refused: limited} }

func limited(resp *http.Response, data []byte) (words string, refused bool) {
	if resp.StatusCode != http.StatusTooManyRequests {
		return "", false
	}
	return wordsOf(resp.StatusCode, data), true
}
