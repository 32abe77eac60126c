// Package github implements scm for GitHub: github.com or a GitHub Enterprise server.
//
// It minimizes requests: every list is read with the largest pages, every response is
// cached with its ETag, so that repeated requests do not count against the rate limit
// as long as nothing changed, and writes are paced. After GitHub requests a pause, no
// request is sent until it is over.
//
// The credential is sent only to the API's host and never appears in an error. Errors
// contain GitHub's message on one line.
package github

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/identity"
	"promoter/internal/lru"
	"promoter/internal/scm/rest"
)

// PublicURL is the URL of github.com.
const PublicURL = "https://github.com"

// WritePace is the minimum interval between two writes that GitHub asks for.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
const WritePace = time.Second

// Options configures access to GitHub. Without a URL, it is PublicURL. Without one of the API, that
// is derived from URL: it is below /api/v3 on a GitHub Enterprise server. See WritePace for a pace.
type Options = rest.Connection

// Forge is GitHub with one credential: an scm.Forge, scm.Comparer and scm.Releases.
// It is safe for concurrent use.
type Forge struct {
	rest.State // of this credential

	host string // of the web pages, which identifies repositories and users
	page string // URL of the web pages, without a trailing slash
	api  *gogithub.Client
	now  func() time.Time

	self      rest.Hourly[identity.User] // of a user's credential
	installed identity.User              // of an installation
	edits     *lru.Cache[editOf, bool]   // which comments were edited
	permitted Permitted                  // permissions of the installation; nil: a user's credential
	app       *App                       // of the installation; nil: a user's credential
	signs     bool                       // our commits are signed
	robots    rest.Robots                // of the server file
}

// New returns a Forge. It sends no request. Token, HTTP and Now are required.
func New(options Options) (*Forge, error) {
	page, err := options.Page("GitHub", PublicURL)
	if err != nil {
		return nil, err
	}
	endpoint := apiOf(page)
	if options.API != "" {
		if endpoint, err = rest.WebURL(options.API); err != nil {
			return nil, fmt.Errorf("the URL of GitHub's API: %w", err)
		}
	}
	endpoint.Path = strings.TrimRight(endpoint.Path, "/") + "/"
	made := &Forge{
		host: strings.ToLower(page.Host), page: page.String(), now: options.Now, signs: options.Signs, robots: options.Robots,
		edits: lru.New[editOf, bool](maxEdits),
	}
	made.api = gogithub.NewClient(rest.NewClient(options, endpoint, limits(), &made.State))
	made.api.BaseURL, made.api.UserAgent = endpoint, "promoter"
	return made, nil
}

// apiOf returns the API URL of a web URL: api.github.com, api.NAME.ghe.com for an
// enterprise with data residency, else /api/v3 of the server.
// https://docs.github.com/en/enterprise-cloud@latest/rest/using-the-rest-api/getting-started-with-the-rest-api
func apiOf(page *url.URL) *url.URL {
	api := *page
	name := strings.ToLower(page.Hostname())
	if name == "github.com" || strings.HasSuffix(name, ".ghe.com") {
		api.Host, api.Path = "api."+page.Host, "/"
		return &api
	}
	api.Path = strings.TrimRight(page.Path, "/") + "/api/v3/"
	return &api
}

// noreplyHost returns the host of the addresses that GitHub gives to accounts. All
// enterprises with data residency share one.
// https://docs.github.com/en/account-and-profile/reference/email-addresses-reference
func (f *Forge) noreplyHost() string {
	name, _, _ := strings.Cut(f.host, ":")
	if strings.HasSuffix(name, ".ghe.com") {
		name = "ghe.com"
	}
	return "users.noreply." + name
}

// pages reads a list completely, or until read has returned limit items.
func pages[T any](limit int, read func(gogithub.ListOptions) ([]T, *gogithub.Response, error)) ([]T, error) {
	return rest.Pages(limit, func(page rest.Page) ([]T, int, error) {
		list, resp, err := read(gogithub.ListOptions{Page: page.Number, PerPage: page.Size})
		if err != nil {
			return nil, 0, err
		}
		return list, resp.NextPage, nil
	})
}

// GitHub's limits in characters.
const (
	maxTitle       = 250 // of a pull request; GitHub allows 256
	maxBody        = 65536
	maxLabel       = 50
	maxDescription = 140 // of a status
)

const cutWords = "\n\n… cut here: GitHub takes no longer text."

func cutTitle(title string) string { return rest.Shorten(title, maxTitle, "…") }

func cutBody(body string) string { return rest.Shorten(body, maxBody, cutWords) }
