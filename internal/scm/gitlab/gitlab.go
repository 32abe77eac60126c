package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/identity"
	"promoter/internal/scm/rest"
	"promoter/internal/secret"
)

// PublicURL is the page of the public GitLab.
const PublicURL = "https://gitlab.com"

// WritePace is the distance between two writes. GitLab asks for none; gitlab.com
// allows 60 notes and 300 other writes a minute.
// https://docs.gitlab.com/user/gitlab_com/#rate-limits-on-gitlabcom
const WritePace = time.Second

// GitUser is the name that Git gives beside a token.
const GitUser = "oauth2"

// Options say which GitLab is meant and how it is asked.
type Options struct {
	// URL of the pages for people, with the path below which a server may have
	// them. Empty: PublicURL.
	URL string
	// Token gives the credential: a personal, group or project access token. It is
	// asked for before every request. An absent one asks without a credential.
	Token func(ctx context.Context) (secret.String, error)
	// HTTP sends the requests. Its own redirect policy is not used.
	HTTP *http.Client
	// Now is the clock.
	Now func() time.Time
	// Pace is the distance between two writes, see WritePace. Zero: none.
	Pace time.Duration
}

// Forge is one GitLab with one credential: an scm.Forge, scm.Comparer and
// scm.Releases. It is safe for many goroutines.
type Forge struct {
	rest.Pauses // of this credential

	host string           // of the pages for people, which names repositories and persons
	page string           // the address of those pages, without a slash at its end
	api  *gogitlab.Client //nolint:staticcheck // the whole module is: docs/dependencies.md says why it is used
	now  func() time.Time

	mu   sync.Mutex
	self account      // asked for once an hour
	told time.Time    // when that was
	bots map[int]bool // by number of the account
}

// account is somebody with the number that GitLab's API wants.
type account struct {
	id     int
	person identity.User
}

// New makes a Forge. It sends no request. Token, HTTP and Now are required.
func New(options Options) (*Forge, error) {
	if options.Token == nil || options.HTTP == nil || options.Now == nil {
		return nil, errors.New("gitlab: a forge needs a token source, an HTTP client and a clock")
	}
	if options.URL == "" {
		options.URL = PublicURL
	}
	page, err := rest.WebURL(options.URL)
	if err != nil {
		return nil, fmt.Errorf("the URL of GitLab: %w", err)
	}
	page.Path = strings.TrimRight(page.Path, "/")
	made := &Forge{host: strings.ToLower(page.Host), page: page.String(), now: options.Now, bots: map[int]bool{}}
	client := rest.NewClient(rest.Options{
		Endpoint: page, Token: options.Token, HTTP: options.HTTP, Now: options.Now, Pace: options.Pace, Limits: limits(), Pauses: &made.Pauses,
	})
	// The credential, the limits and the tries again are ours.
	api, err := gogitlab.NewOAuthClient("", //nolint:staticcheck // see Forge
		gogitlab.WithBaseURL(page.String()), gogitlab.WithHTTPClient(client),
		gogitlab.WithoutRetries(), gogitlab.WithCustomRetryMax(0), gogitlab.WithCustomLimiter(noLimiter{}))
	if err != nil {
		return nil, fmt.Errorf("the client of GitLab: %w", err)
	}
	api.UserAgent = "promoter"
	made.api = api
	return made, nil
}

// noLimiter lets everything pass, since the limits are kept below the library.
type noLimiter struct{}

// Wait returns at once.
func (noLimiter) Wait(context.Context) error { return nil }

// in binds a request to a context.
func in(ctx context.Context) gogitlab.RequestOptionFunc { return gogitlab.WithContext(ctx) }
