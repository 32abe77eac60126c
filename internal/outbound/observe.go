package outbound

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"promoter/internal/budget"
)

// Exchange is a request that was sent and its outcome. It has no path and no header,
// which may contain a credential.
type Exchange struct {
	Method string
	Host   string // host or host:port
	Route  string // the form of its path, see Route
	Status int    // of HTTP; zero: there was no response
	// Remaining is how many requests the server still permits; negative: it does not say.
	Remaining int
	// Skew is how far the server's clock is ahead, to about a second; zero if it does not
	// say.
	Skew  time.Duration
	Began time.Time
	Took  time.Duration // until the header of the response
}

// observed sends a request and reports it to Options.Observe.
func (c *Client) observed(req *http.Request, via http.RoundTripper) (*http.Response, error) {
	begin := c.options.Now()
	resp, err := via.RoundTrip(req)
	end := c.options.Now()
	exchange := Exchange{
		Method: req.Method, Host: req.URL.Host, Route: Route(req.URL.EscapedPath()),
		Remaining: -1, Began: begin, Took: end.Sub(begin),
	}
	if resp != nil {
		if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			exchange.Skew = at.Sub(end)
		}
		exchange.Status, exchange.Remaining = resp.StatusCode, remaining(resp.Header)
	}
	c.options.Observe(req.Context(), exchange)
	_ = budget.Spend(req.Context(), budget.Elapsed, req.URL.Host, exchange.Took.Milliseconds()) // has no limit
	return resp, err
}

// remaining reads the headers of GitHub, Gitea and GitLab. GitHub has separate limits for
// searches and the like, which would hide the relevant one.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
// https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/
func remaining(head http.Header) int {
	if resource := head.Get("X-Ratelimit-Resource"); resource != "" && resource != "core" {
		return -1
	}
	for _, name := range []string{"X-Ratelimit-Remaining", "Ratelimit-Remaining"} {
		value, _, _ := strings.Cut(head.Get(name), ";") // Docker Hub adds the length of the window
		if n, err := strconv.ParseInt(value, 10, 32); err == nil && n >= 0 {
			return int(n)
		}
	}
	return -1
}

// Route returns the form of a path for metrics and traces: words of the APIs that
// promoter calls stay, and every other segment becomes a star. So it never contains a
// name, a credential or a secret, whatever a server or a config file puts into a path.
func Route(path string) string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, segment := range segments {
		if segment != "" && !routeWords[segment] {
			segments[i] = "*"
		}
	}
	if len(segments) > maxSegments {
		segments = append(segments[:maxSegments], "…")
	}
	return "/" + strings.Join(segments, "/")
}

// maxSegments bounds a route.
const maxSegments = 16

// routeWords are words in the paths of GitHub, GitLab, Gitea, registries, Git, cloud
// services and OTLP.
var routeWords = wordsOf(`
	api v1 v2 v3 v4 graphql meta version rate_limit
	repos repositories projects repository orgs groups teams users user members memberships all
	collaborators permission permissions settings app app-manifests conversions
	installation installations access_tokens
	pulls merge_requests merge issues comments notes discussions labels reviews reactions award_emoji
	requested_reviewers reviewers approvals approval_rules approval_state files update update-branch
	commits statuses status check-runs check-suites actions runs pipelines jobs compare
	branches branch_protections protected_branches protection rules rulesets required_status_checks
	git refs heads tags releases latest permalink contents raw search archive
	_catalog list manifests blobs uploads referrers token tokens auth oauth2 oauth exchange service
	info git-upload-pack git-receive-pack .well-known openid-configuration certs
	meta-data iam security-credentials placement region instance service-accounts default identity
	computeMetadata metadata instance-identity document
	traces`)

func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(text) {
		words[word] = true
	}
	return words
}
