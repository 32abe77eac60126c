// Package gitea implements scm for Gitea, and for Forgejo, which is a fork with the
// same API: pull requests, statuses, reviews and comments with one token, over an
// HTTP client that the caller provides.
//
// The client library has no context per call and requests the server's version first.
// Therefore a client is created for each call, which sends nothing by itself, and
// differences between versions are detected from responses.
//
// An opened repository lives for one reconciliation: its cached labels, permissions
// and statuses are never older. The Forge caches how closed pull requests ended as
// long as their list does not change.
package gitea

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"promoter/internal/identity"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// Options configures access to a server. The API is below /api/v1 of its URL. Gitea does not
// require a pace, and does not care whether commits are signed.
type Options = rest.Connection

// Forge is one Gitea or Forgejo server with one credential: an scm.Forge,
// scm.Comparer and scm.Releases. It is safe for concurrent use.
type Forge struct {
	rest.State // of this credential

	host string // of the web pages, which identifies repositories and users
	page string // URL of the web pages, without a trailing slash
	http *http.Client
	now  func() time.Time

	self   rest.Hourly[identity.User]
	robots rest.Robots // of the server file

	mu     sync.Mutex
	closed map[identity.RepositoryKey]*archive

	unmergeable map[pullKey]unmergeable
	limits      rest.Memo[identity.RepositoryKey, *rest.Hourly[scm.PermissionLimit]]
}

// New returns a Forge. It sends no request. URL, Token, HTTP and Now are required.
func New(options Options) (*Forge, error) {
	page, err := options.Page("Gitea", "")
	if err != nil {
		return nil, err
	}
	made := &Forge{
		host:        strings.ToLower(page.Host),
		page:        page.String(),
		now:         options.Now,
		robots:      options.Robots,
		closed:      map[identity.RepositoryKey]*archive{},
		unmergeable: map[pullKey]unmergeable{},
	}
	limits := rest.Limits{Prefix: limitPrefix, Refused: limited}
	made.http = rest.NewClient(options, page.JoinPath("api", "v1"), limits, &made.State)
	return made, nil
}

// api returns the client for one call. Creating it sends nothing: with an empty
// version the library does not request one.
func (f *Forge) api(ctx context.Context) *sdk.Client { return f.client(ctx, f.http) }

func (r *repository) api(ctx context.Context) *sdk.Client { return r.forge.api(ctx) }

func (f *Forge) client(ctx context.Context, over *http.Client) *sdk.Client {
	// None of these options can fail.
	client, _ := sdk.NewClient(f.page, sdk.SetGiteaVersion(""), sdk.SetContext(ctx), sdk.SetHTTPClient(over), sdk.SetUserAgent("promoter"))
	return client
}

// person converts an account, as it counts for what users decide.
func (f *Forge) person(user *sdk.User) identity.User { return f.robots.Person(f.accountOf(user)) }

// reviewer converts the account of a review.
func (f *Forge) reviewer(user *sdk.User) identity.User { return f.robots.Account(f.accountOf(user)) }

// accountOf converts an account. Accounts of the server itself have negative IDs: the
// one of Actions is a bot, and Ghost stands for deleted accounts. Other bots cannot
// be distinguished.
func (f *Forge) accountOf(user *sdk.User) identity.User {
	const ghost = -1
	if user == nil || user.UserName == "" || user.ID == ghost {
		return identity.User{}
	}
	return identity.User{Host: f.host, ID: identity.NumericID(user.ID), Login: user.UserName, Bot: user.ID < 0}
}

// perPage is the requested page size. A server returns at most MAX_RESPONSE_ITEMS,
// which is 50 by default.
const perPage = 50

// pages reads a list completely, or until it has limit items that keep accepts.
func pages[S, T any](limit int, read func(sdk.ListOptions) ([]S, *sdk.Response, error), keep func(S) (T, bool)) ([]T, error) {
	seen := 0
	return rest.Pages(limit, func(page rest.Page) ([]T, int, error) {
		number := max(page.Number, 1)
		list, resp, err := read(sdk.ListOptions{Page: number, PageSize: perPage})
		if err != nil {
			return nil, 0, answered(resp, err)
		}
		var kept []T
		for _, one := range list {
			if wanted, ok := keep(one); ok {
				kept = append(kept, wanted)
			}
		}
		seen += len(list)
		if !more(resp, seen, len(list)) {
			return kept, 0, nil
		}
		return kept, number + 1, nil
	})
}

// more reports whether another page follows. Some lists have links, some report only
// the total count, and the server may return fewer items than requested.
func more(resp *sdk.Response, seen, got int) bool {
	switch total, err := strconv.Atoi(resp.Header.Get("X-Total-Count")); {
	case got == 0:
		return false
	case resp.NextPage != 0:
		return true
	case err == nil:
		return seen < total
	default:
		return resp.Header.Get("Link") == "" && got == perPage
	}
}

// all accepts every item.
func all[T any](one T) (T, bool) { return one, true }

// Limits in characters. Gitea has none for bodies; this one keeps pages readable.
const (
	maxTitle       = 250 // of a pull request; the column allows 255
	maxBody        = 65536
	maxLabel       = 50
	maxDescription = 255 // of a status
)

const cutWords = "\n\n… cut here: the text was too long."

func cutTitle(title string) string { return rest.Shorten(title, maxTitle, "…") }

func cutBody(body string) string { return rest.Shorten(body, maxBody, cutWords) }
