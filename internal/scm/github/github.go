package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/identity"
	"promoter/internal/scm/rest"
	"promoter/internal/secret"
)

// PublicURL is the page of the public GitHub.
const PublicURL = "https://github.com"

// WritePace is the distance between two writes that GitHub asks for.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
const WritePace = time.Second

// Options say which GitHub is meant and how it is asked.
type Options struct {
	// URL of the pages for people: PublicURL, or that of a GitHub Enterprise
	// server. Empty: PublicURL.
	URL string
	// API is the URL of the REST API. Empty: the one that belongs to URL, which is
	// below /api/v3 on a GitHub Enterprise server.
	API string
	// Token gives the credential; it is asked for before every request. An absent
	// one asks without a credential.
	Token func(ctx context.Context) (secret.String, error)
	// HTTP sends the requests. Its own redirect policy is not used.
	HTTP *http.Client
	// Now is the clock.
	Now func() time.Time
	// Pace is the distance between two writes, see WritePace. Zero: none.
	Pace time.Duration
}

// Forge is one GitHub with one credential: an scm.Forge, scm.Comparer and
// scm.Releases. It is safe for many goroutines.
type Forge struct {
	rest.Pauses // of this credential

	host string // of the pages for people, which names repositories and persons
	page string // the address of those pages, without a slash at its end
	api  *gogithub.Client
	now  func() time.Time

	mu   sync.Mutex
	self identity.User // asked for once an hour; of an installation it is given
	told time.Time     // when that was

	permitted Permitted // of the installation whose forge it is; nil: it is a user's
}

// New makes a Forge. It sends no request. Token, HTTP and Now are required.
func New(options Options) (*Forge, error) {
	if options.Token == nil || options.HTTP == nil || options.Now == nil {
		return nil, errors.New("github: a forge needs a token source, an HTTP client and a clock")
	}
	if options.URL == "" {
		options.URL = PublicURL
	}
	page, err := rest.WebURL(options.URL)
	if err != nil {
		return nil, fmt.Errorf("the URL of GitHub: %w", err)
	}
	endpoint := apiOf(page)
	if options.API != "" {
		if endpoint, err = rest.WebURL(options.API); err != nil {
			return nil, fmt.Errorf("the URL of GitHub's API: %w", err)
		}
	}
	endpoint.Path = strings.TrimRight(endpoint.Path, "/") + "/"
	made := &Forge{host: strings.ToLower(page.Host), page: strings.TrimRight(page.String(), "/"), now: options.Now}
	made.api = gogithub.NewClient(rest.NewClient(rest.Options{
		Endpoint: endpoint, Token: options.Token, HTTP: options.HTTP, Now: options.Now, Pace: options.Pace, Limits: limits(), Pauses: &made.Pauses,
	}))
	made.api.BaseURL, made.api.UserAgent = endpoint, "promoter"
	return made, nil
}

// apiOf returns the API that belongs to a page: api.github.com, api.NAME.ghe.com
// for an enterprise with its own data residency, else /api/v3 of the server.
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
