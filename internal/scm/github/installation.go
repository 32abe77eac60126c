package github

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm/rest"
	"promoter/internal/secret"
)

// Installation is the installation of an App on one account.
type Installation struct {
	ID        int64
	Account   string // the user or organization
	URL       string // of the page where an owner of the account manages it
	Suspended bool
	Permitted Permitted
}

// installationAnswer is GitHub's description of an installation.
type installationAnswer struct {
	ID          int64      `json:"id"`
	AppID       int64      `json:"app_id"`
	Account     account    `json:"account"`
	Suspended   *time.Time `json:"suspended_at"`
	Permissions Permitted  `json:"permissions"`
}

// Installations lists the installations of the App, including suspended ones.
func (a *App) Installations(ctx context.Context) ([]Installation, error) {
	app, err := a.ask(ctx)
	if err != nil {
		return nil, err
	}
	found, err := pages(rest.Everything, func(page gogithub.ListOptions) ([]installationAnswer, *gogithub.Response, error) {
		return readPage[installationAnswer](ctx, a.hub, "app/installations?"+query(page))
	})
	if err != nil {
		return nil, a.explain("the installations of the App "+app.Slug, err)
	}
	var all []Installation
	for _, one := range found {
		if one.AppID == app.ID && rest.IsName(one.Account.Login) {
			all = append(all, a.installation(one))
		}
	}
	return all, nil
}

// InstallationOf finds the installation that a repository belongs to.
func (a *App) InstallationOf(ctx context.Context, name string) (Installation, error) {
	noun := "repository " + rest.OneLine(name)
	owner, short, err := rest.SplitName(name)
	if err != nil {
		return Installation{}, explain(noun, err)
	}
	app, err := a.ask(ctx)
	if err != nil {
		return Installation{}, err
	}
	var found installationAnswer
	err = a.hub.get(ctx, "repos/"+owner+"/"+short+"/installation", &found)
	if statusOf(err) == http.StatusNotFound {
		return Installation{}, fault.New(fault.NotFound,
			"%s: it is not there, or the App %s is not installed on it: an owner of %s installs it at %s",
			noun, app.Slug, owner, a.installURL(app))
	}
	if err != nil {
		return Installation{}, a.explain(noun, err)
	}
	if found.AppID != app.ID || found.ID <= 0 || !rest.IsName(found.Account.Login) {
		return Installation{}, fault.New(fault.Temporary, "%s: the answer describes no installation of the App %s", noun, app.Slug)
	}
	return a.installation(found), nil
}

func (a *App) installation(found installationAnswer) Installation {
	return Installation{
		ID: found.ID, Account: found.Account.Login, Suspended: found.Suspended != nil, Permitted: found.Permissions,
		URL: a.hub.settings(found.Account) + "/installations/" + strconv.FormatInt(found.ID, 10),
	}
}

// Check returns an error if an installation cannot be used: it is suspended, or a
// required permission is missing. The error includes how to fix it, and where.
func (a *App) Check(ctx context.Context, i Installation) error {
	app, err := a.ask(ctx)
	if err != nil {
		return err
	}
	if i.Suspended {
		return a.suspended(i)
	}
	lacking := i.Permitted.lacking()
	if len(lacking) == 0 {
		return nil
	}
	advice := fmt.Sprintf("an owner of %s accepts the App's new permissions at %s", i.Account, i.URL)
	for _, permission := range lacking {
		if !app.Permissions.Grants(permission) {
			advice = fmt.Sprintf("the owner of the App adds it at %s, then %s", a.permissionsURL(app), advice)
			break
		}
	}
	return fault.New(fault.Unauthorized, "the installation of the App %s at %s lacks %s: %s", app.Slug, i.Account, listed(lacking), advice)
}

// suspended returns the error for a suspended installation.
func (a *App) suspended(i Installation) error {
	return fault.New(fault.Unauthorized,
		"the installation of the App at %s is suspended: an owner of %s lets it work again at %s", i.Account, i.Account, i.URL)
}

// gone returns the error for an installation that no longer exists.
func (a *App) gone(i Installation) error {
	return fault.New(fault.NotFound,
		"the App was removed from %s: install it again, or take the repositories of %s from the list", i.Account, i.Account)
}

// query formats the query for a page of a list.
func query(page gogithub.ListOptions) string {
	text := "per_page=" + strconv.Itoa(page.PerPage)
	if page.Page > 0 {
		text += "&page=" + strconv.Itoa(page.Page)
	}
	return text
}

// installationError explains why there is no token for an installation.
func (a *App) installationError(i Installation, err error) error {
	answer, answered := answerOf(err)
	switch {
	case answered && answer.Status == http.StatusForbidden && strings.Contains(answer.Words, suspendedWords):
		return a.suspended(i)
	case answered && answer.Status == http.StatusNotFound && !strings.Contains(answer.Words, "Integration not found"):
		return a.gone(i)
	}
	return a.explain("a token for the installation at "+i.Account, err)
}

// Installed is GitHub as seen by one installation: a Forge with the credential, rate
// limits and cached responses of that installation only.
type Installed struct {
	*Forge
	Installation Installation
	tokens       *tokens
}

// Use returns the forge of an installation.
func (a *App) Use(ctx context.Context, i Installation) (*Installed, error) {
	self, err := a.Self(ctx)
	if err != nil {
		return nil, err
	}
	made := &tokens{app: a, of: i, turn: make(chan struct{}, 1)}
	forge, err := New(Options{
		URL: a.options.URL, API: a.options.API, Token: made.get, HTTP: a.options.HTTP, Now: a.options.Now, Pace: a.options.Pace,
		Signs: a.options.Signs, Robots: a.options.Robots,
	})
	if err != nil {
		return nil, err
	}
	forge.renewing(made, a.options.Sleep)
	forge.installed = self
	forge.app = a
	forge.permitted = i.Permitted
	return &Installed{Forge: forge, Installation: i, tokens: made}, nil
}

// UseAgain is like Use, but returns before if it is still valid: it has the same App,
// account and permissions, and its installation and token still work. Before may be
// nil.
func (a *App) UseAgain(ctx context.Context, before *Installed, i Installation) (*Installed, error) {
	self, err := a.Self(ctx)
	if err != nil {
		return nil, err
	}
	if before == nil || before.installed != self || !before.of(a, i) {
		return a.Use(ctx, i)
	}
	return before, nil
}

// of reports whether a forge belongs to an installation in its current state.
func (i *Installed) of(app *App, now Installation) bool {
	then, by := i.Installation, i.tokens.app.options
	sameApp := by.ID == app.options.ID && by.Key.Reveal() == app.options.Key.Reveal() && by.URL == app.options.URL
	same := then.ID == now.ID && then.Account == now.Account && then.URL == now.URL && maps.Equal(then.Permitted, now.Permitted)
	return sameApp && same && !now.Suspended && !i.tokens.over()
}

// Token returns a token of the installation for Git, valid for at least some minutes.
func (i *Installed) Token(ctx context.Context) (secret.String, error) { return i.tokens.get(ctx) }

// Listed is a repository in a list.
type Listed struct {
	ID       string
	Name     string // OWNER/NAME
	Fork     bool   // of another repository
	Archived bool   // archived, or disabled by GitHub: read-only
	Branch   string // default branch
	Pushed   time.Time
}

// Repositories lists the repositories that the installation can access.
func (i *Installed) Repositories(ctx context.Context) ([]Listed, error) {
	found, err := pages(rest.Everything, func(page gogithub.ListOptions) ([]*gogithub.Repository, *gogithub.Response, error) {
		list, resp, err := i.api.Apps.ListRepos(ctx, &page)
		if err != nil {
			return nil, resp, err
		}
		return list.Repositories, resp, nil
	})
	if err != nil {
		return nil, explain("the repositories of the installation at "+i.Installation.Account, err)
	}
	var all []Listed
	for _, one := range found {
		if _, _, err := rest.SplitName(one.GetFullName()); err == nil {
			all = append(all, Listed{
				ID: identity.NumericID(one.GetID()), Name: one.GetFullName(),
				Fork: one.GetFork(), Archived: one.GetArchived() || one.GetDisabled(),
				Branch: one.GetDefaultBranch(), Pushed: one.GetPushedAt().UTC(),
			})
		}
	}
	return all, nil
}

// Holds reports whether a repository has a file on its default branch.
func (i *Installed) Holds(ctx context.Context, name, path string) (bool, error) {
	noun := path + " of " + rest.OneLine(name)
	owner, short, err := rest.SplitName(name)
	if err != nil {
		return false, explain(noun, err)
	}
	file, _, _, err := i.api.Repositories.GetContents(ctx, owner, short, path, nil)
	if statusOf(err) == http.StatusNotFound {
		return false, nil
	}
	return file != nil && err == nil, explain(noun, err)
}
