package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/identity"
	"promoter/internal/scm/rest"
	"promoter/internal/secret"
)

// Options say which server is meant and how it is asked.
type Options struct {
	// URL of the pages for people, with the path below which the server lies. The
	// API is below /api/v1.
	URL string
	// Token gives the credential; it is asked for before every request. An absent
	// one asks without a credential.
	Token func(ctx context.Context) (secret.String, error)
	// HTTP sends the requests. Its own redirect policy is not used.
	HTTP *http.Client
	// Now is the clock.
	Now func() time.Time
	// Pace is the distance between two writes. Zero: none, for Gitea asks for none.
	Pace time.Duration
}

// Forge is one Gitea or Forgejo with one credential: an scm.Forge, scm.Comparer
// and scm.Releases. It is safe for many goroutines.
type Forge struct {
	rest.Pauses // of this credential

	host string // of the pages for people, which names repositories and persons
	page string // the address of those pages, without a slash at its end
	http *http.Client
	now  func() time.Time

	mu     sync.Mutex
	self   identity.User // asked for once an hour
	told   time.Time     // when that was
	closed map[identity.RepositoryKey]*archive
}

// New makes a Forge. It sends no request. URL, Token, HTTP and Now are required.
func New(options Options) (*Forge, error) {
	if options.Token == nil || options.HTTP == nil || options.Now == nil {
		return nil, errors.New("gitea: a forge needs a token source, an HTTP client and a clock")
	}
	page, err := rest.WebURL(options.URL)
	if err != nil {
		return nil, fmt.Errorf("the URL of Gitea: %w", err)
	}
	page.Path = strings.TrimRight(page.Path, "/")
	made := &Forge{host: strings.ToLower(page.Host), page: page.String(), now: options.Now, closed: map[identity.RepositoryKey]*archive{}}
	made.http = rest.NewClient(rest.Options{
		Endpoint: page.JoinPath("api", "v1"), Token: options.Token, HTTP: options.HTTP, Now: options.Now, Pace: options.Pace,
		Limits: rest.Limits{Prefix: limitPrefix, Refused: limited}, Pauses: &made.Pauses,
	})
	return made, nil
}

// api is the client for one call. Making it sends nothing: without a version the
// library asks for none.
func (f *Forge) api(ctx context.Context) *sdk.Client { return f.client(ctx, f.http) }

func (f *Forge) client(ctx context.Context, over *http.Client) *sdk.Client {
	// None of these options can fail.
	client, _ := sdk.NewClient(f.page, sdk.SetGiteaVersion(""), sdk.SetContext(ctx), sdk.SetHTTPClient(over), sdk.SetUserAgent("promoter"))
	return client
}

// person translates an account. Those of the server itself have negative ids: the
// one of Actions is a bot, and Ghost stands for accounts that were deleted. Other
// bots are not told apart.
func (f *Forge) person(user *sdk.User) identity.User {
	const ghost = -1
	if user == nil || user.UserName == "" || user.ID == ghost {
		return identity.User{}
	}
	return identity.User{Host: f.host, ID: identity.NumericID(user.ID), Login: user.UserName, Bot: user.ID < 0}
}
