package github

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/outbound"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
	"promoter/internal/secret"
)

// AppOptions configures access to GitHub as a GitHub App.
type AppOptions struct {
	URL, API string        // as in Options
	ID       string        // number or client ID shown on the App's page
	Key      secret.String // private key: PEM with PKCS#1 or PKCS#8
	HTTP     *http.Client
	Now      func() time.Time
	Pace     time.Duration // between two writes per installation, see WritePace
	Signs    bool          // as in Options
	Robots   rest.Robots   // as in Options
	// Sleep waits before a new token is used again. Nil: a timer.
	Sleep func(ctx context.Context, wait time.Duration) error
}

// App is one GitHub App. Its own credential only finds installations and creates
// their tokens; see Use for everything else. It is safe for concurrent use.
type App struct {
	options AppOptions
	hub     *Forge // with the App's own credential
	signer  *appSigner

	known rest.Once[*appAnswer]
	bot   rest.Once[int64] // number of the App's account
}

// appAnswer is GitHub's description of an App.
type appAnswer struct {
	ID          int64     `json:"id"`
	Slug        string    `json:"slug"`
	HTMLURL     string    `json:"html_url"`
	Owner       account   `json:"owner"`
	Permissions Permitted `json:"permissions"`
	Events      []string  `json:"events"`
}

// account is a user or an organization.
type account struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

// NewApp returns an App. It sends no request. ID, Key, HTTP and Now are required.
func NewApp(options AppOptions) (*App, error) {
	if options.HTTP == nil || options.Now == nil || options.ID == "" {
		return nil, errors.New("github: an App needs an id, an HTTP client and a clock")
	}
	if options.Sleep == nil {
		options.Sleep = outbound.Sleep
	}
	parse := func(from []secret.String) (*rsa.PrivateKey, error) { return parseKey(from[0]) }
	key, err := secret.Derive("the App "+options.ID, parse, options.Key)
	if err != nil {
		return nil, err
	}
	signer := &appSigner{issuer: options.ID, secret: options.Key, key: key, clock: options.Now}
	// Token requests are not content-creating writes, for which GitHub asks for a
	// pace.
	hub, err := New(Options{URL: options.URL, API: options.API, Token: signer.token, HTTP: options.HTTP, Now: signer.now})
	if err != nil {
		return nil, err
	}
	hub.renewing(signer, options.Sleep)
	return &App{options: options, hub: hub, signer: signer}, nil
}

// Skew is the detected difference of GitHub's clock to this machine's; negative:
// behind. It is zero unless a difference caused a rejection.
func (a *App) Skew() time.Duration { return a.signer.offset() }

// Paused returns the pause of the App's own credential; see Forge for those of its
// installations.
func (a *App) Paused() (pause outbound.Backoff, on bool) { return a.hub.Paused() }

// Self returns the App's account: SLUG[bot].
func (a *App) Self(ctx context.Context) (identity.User, error) {
	app, err := a.ask(ctx)
	if err != nil {
		return identity.User{}, err
	}
	return identity.User{Host: a.hub.host, Login: app.Slug + "[bot]", Bot: true}, nil
}

// committer returns the identity whose commits GitHub shows as the App's. Its address has
// the number of the account SLUG[bot], which is not that of the App; any token may read it.
// It is zero if GitHub does not return the account: commits need no identity that GitHub
// knows.
// https://github.com/orgs/community/discussions/26560
func (a *App) committer(ctx context.Context, as *Forge) scm.Committer {
	login := as.installed.Login
	bot, err := a.bot.Get(func() (int64, error) {
		var found struct {
			ID    int64  `json:"id"`
			Login string `json:"login"`
		}
		err := as.get(ctx, "users/"+url.PathEscape(login), &found)
		if err == nil && (found.ID <= 0 || !identity.SameLogin(found.Login, login)) {
			err = fault.New(fault.Temporary, "the answer describes no account")
		}
		return found.ID, err
	})
	if err != nil {
		return scm.Committer{}
	}
	return scm.Committer{Name: login, Email: fmt.Sprintf("%d+%s@%s", bot, login, as.noreplyHost())}
}

// ask fetches the App's description once.
func (a *App) ask(ctx context.Context) (*appAnswer, error) {
	return a.known.Get(func() (*appAnswer, error) {
		var app appAnswer
		if err := a.hub.get(ctx, "app", &app); err != nil {
			return nil, a.explain("the App "+rest.OneLine(a.options.ID), err)
		}
		if !rest.IsName(app.Slug) || app.ID <= 0 {
			return nil, fault.New(fault.Temporary, "the App %s: the answer describes no App", rest.OneLine(a.options.ID))
		}
		return &app, nil
	})
}

// installURL returns the page on which an App is installed.
func (a *App) installURL(app *appAnswer) string {
	return a.hub.appPage(app.Slug, app.HTMLURL) + installations
}

// permissionsURL returns the page on which the App's owner sets its permissions.
func (a *App) permissionsURL(app *appAnswer) string {
	return a.hub.settings(app.Owner) + "/apps/" + app.Slug + "/permissions"
}

// settings returns the settings page of an account.
func (f *Forge) settings(of account) string {
	if of.Type == "Organization" && rest.IsName(of.Login) {
		return f.page + "/organizations/" + of.Login + "/settings"
	}
	return f.page + "/settings"
}

// get fetches an object for which the library has no type.
func (f *Forge) get(ctx context.Context, path string, into any) error {
	_, err := f.call(ctx, http.MethodGet, path, nil, into)
	return err
}

// readPage fetches one page of a list for which the library has no type.
func readPage[T any](ctx context.Context, f *Forge, path string) (list []T, resp *gogithub.Response, err error) {
	resp, err = f.call(ctx, http.MethodGet, path, nil, &list)
	return list, resp, err
}

// call sends a request for which the library has no function.
func (f *Forge) call(ctx context.Context, method, path string, body, into any) (*gogithub.Response, error) {
	req, err := f.api.NewRequest(method, path, body)
	if err != nil {
		return nil, err
	}
	return f.api.Do(ctx, req, into)
}

// explain converts an error about the App's own credential to a fault with advice.
func (a *App) explain(noun string, err error) error {
	return rest.Explain("GitHub", noun, err, func(err error) (rest.Answer, bool) {
		answer, ok := answerOf(err)
		if ok && answer.Status == http.StatusUnauthorized {
			answer.Advice = a.advice(answer.Words)
		}
		if ok && strings.Contains(answer.Words, "Integration not found") {
			answer.Kind, answer.Advice = fault.Unauthorized, ": there is no App with this id: check app.id and the url of the forge"
		}
		return answer, ok
	})
}

// advice returns how to fix a rejected token of the App.
func (a *App) advice(words string) string {
	switch {
	case strings.Contains(words, "('exp')"), strings.Contains(words, "('iat')"):
		return ": the clock of this machine differs from GitHub's: set it, for instance with NTP"
	case strings.Contains(words, "('iss')"):
		return ": app.id is not the id of an App there"
	}
	return ": check that app.key is a private key of the App with this app.id, and was not deleted on the App's page"
}
