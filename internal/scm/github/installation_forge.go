package github

import (
	"context"
	"maps"
	"net/http"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/identity"
	"promoter/internal/scm/rest"
	"promoter/internal/secret"
)

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
	made := newTokens(a, i)
	forge, err := New(Options{
		URL: a.options.URL, API: a.options.API, Token: made.get, HTTP: a.options.HTTP, Now: a.options.Now, Pace: a.options.Pace,
	})
	if err != nil {
		return nil, err
	}
	forge.renewing(made)
	forge.self = self
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
	if before == nil || before.self != self || !before.of(a, i) {
		return a.Use(ctx, i)
	}
	return before, nil
}

// of reports whether a forge belongs to an installation in its current state.
func (i *Installed) of(app *App, now Installation) bool {
	then, by := i.Installation, i.tokens.app.options
	return by.ID == app.options.ID && by.Key.Reveal() == app.options.Key.Reveal() && by.URL == app.options.URL &&
		then.ID == now.ID && then.Account == now.Account && then.URL == now.URL && !now.Suspended &&
		maps.Equal(then.Permitted, now.Permitted) && !i.tokens.over()
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
		if _, _, err := splitName(one.GetFullName()); err == nil {
			all = append(all, Listed{
				ID: identity.NumericID(one.GetID()), Name: one.GetFullName(), Fork: one.GetFork(), Archived: one.GetArchived() || one.GetDisabled(),
				Branch: one.GetDefaultBranch(), Pushed: one.GetPushedAt().UTC(),
			})
		}
	}
	return all, nil
}

// Holds reports whether a repository has a file on its default branch.
func (i *Installed) Holds(ctx context.Context, name, path string) (bool, error) {
	noun := path + " of " + rest.OneLine(name)
	owner, short, err := splitName(name)
	if err != nil {
		return false, explain(noun, err)
	}
	file, _, _, err := i.api.Repositories.GetContents(ctx, owner, short, path, nil)
	if statusOf(err) == http.StatusNotFound {
		return false, nil
	}
	return file != nil && err == nil, explain(noun, err)
}
