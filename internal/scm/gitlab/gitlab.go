// Package gitlab implements scm for GitLab: gitlab.com or a self-managed server of
// any tier.
//
// A project is looked up by its path once, and accessed by its ID from then on, so
// that a rename has no effect. Features of higher tiers are never required; without
// them, results are as package scm documents.
//
// GitLab's approvals have no commit. This package assigns the head of the version
// that was the latest when the approval was given, so that an approval from before
// the last push is recognized whether or not the project resets approvals on a push.
//
// The credential is sent only to the API's host and never appears in an error. Errors
// contain GitLab's message on one line.
package gitlab

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/identity"
	"promoter/internal/scm/rest"
)

// PublicURL is the URL of gitlab.com.
const PublicURL = "https://gitlab.com"

// GitUser is the user name that Git sends with a token.
const GitUser = "oauth2"

// Options configures access to GitLab. Without a URL, it is PublicURL. The token is a personal,
// group or project access token. GitLab does not require a pace; gitlab.com allows 60 notes and
// 300 other writes a minute: https://docs.gitlab.com/user/gitlab_com/#rate-limits-on-gitlabcom
type Options = rest.Connection

// Forge is GitLab with one credential: an scm.Forge, scm.Comparer and scm.Releases.
// It is safe for concurrent use.
type Forge struct {
	rest.State // of this credential

	host  string           // of the web pages, which identifies repositories and users
	signs bool             // our commits are signed
	page  string           // URL of the web pages, without a trailing slash
	api   *gogitlab.Client //nolint:staticcheck // the whole module is deprecated; docs/dependencies.md explains its use
	now   func() time.Time

	self rest.Hourly[account]
	bots rest.Memo[int, bool] // by account ID

	robots rest.Robots // of the server file
}

// account is a user with the ID that GitLab's API requires.
type account struct {
	id     int
	person identity.User
}

// New returns a Forge. It sends no request. Token, HTTP and Now are required.
func New(to Options) (*Forge, error) {
	page, err := to.Page("GitLab", PublicURL)
	if err != nil {
		return nil, err
	}
	made := &Forge{host: strings.ToLower(page.Host), page: page.String(), now: to.Now, signs: to.Signs, robots: to.Robots}
	// The credential, the limits and the tries again are ours.
	options := []gogitlab.ClientOptionFunc{
		gogitlab.WithBaseURL(page.String()),
		gogitlab.WithHTTPClient(rest.NewClient(to, page, limits(), &made.State)),
		gogitlab.WithoutRetries(), gogitlab.WithCustomRetryMax(0), gogitlab.WithCustomLimiter(noLimiter{}),
	}
	api, err := gogitlab.NewOAuthClient("", options...) //nolint:staticcheck // see Forge
	if err != nil {
		return nil, fmt.Errorf("the client of GitLab: %w", err)
	}
	api.UserAgent = "promoter"
	made.api = api
	return made, nil
}

// noLimiter never limits, because the limits are enforced below the library.
type noLimiter struct{}

// Wait returns immediately.
func (noLimiter) Wait(context.Context) error { return nil }

// in binds a request to a context.
func in(ctx context.Context) gogitlab.RequestOptionFunc { return gogitlab.WithContext(ctx) }

// fewest is the minimum page size. Lists are filtered here, so many unwanted items
// would require many pages of a small limit.
const fewest = 20

// pages reads a list completely, or until read has returned limit items. GitLab does
// not count lists of more than 10,000 items; the next page is sufficient.
func pages[T any](limit int, read func(gogitlab.ListOptions) ([]T, *gogitlab.Response, error)) ([]T, error) {
	return rest.Pages(limit, func(page rest.Page) ([]T, int, error) {
		list, resp, err := read(gogitlab.ListOptions{Page: page.Number, PerPage: max(page.Size, fewest)})
		if err != nil {
			return nil, 0, err
		}
		return list, resp.NextPage, nil
	})
}

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
