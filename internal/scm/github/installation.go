package github

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"promoter/internal/fault"
	"promoter/internal/scm/rest"
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
	told, err := a.ask(ctx)
	if err != nil {
		return nil, err
	}
	found, err := pages(rest.Everything, func(page gogithub.ListOptions) (list []installationAnswer, resp *gogithub.Response, err error) {
		req, err := a.hub.api.NewRequest(http.MethodGet, "app/installations?"+query(page), nil)
		if err != nil {
			return nil, nil, err
		}
		resp, err = a.hub.api.Do(ctx, req, &list)
		return list, resp, err
	})
	if err != nil {
		return nil, a.explain("the installations of the App "+told.Slug, err)
	}
	var all []Installation
	for _, one := range found {
		if one.AppID == told.ID && isName(one.Account.Login) {
			all = append(all, a.installation(one))
		}
	}
	return all, nil
}

// InstallationOf finds the installation that a repository belongs to.
func (a *App) InstallationOf(ctx context.Context, name string) (Installation, error) {
	noun := "repository " + rest.OneLine(name)
	owner, short, err := splitName(name)
	if err != nil {
		return Installation{}, explain(noun, err)
	}
	told, err := a.ask(ctx)
	if err != nil {
		return Installation{}, err
	}
	var found installationAnswer
	err = a.hub.get(ctx, "repos/"+owner+"/"+short+"/installation", &found)
	if statusOf(err) == http.StatusNotFound {
		return Installation{}, fault.New(fault.NotFound, "%s: it is not there, or the App %s is not installed on it: an owner of %s installs it at %s",
			noun, told.Slug, owner, a.installURL(told))
	}
	if err != nil {
		return Installation{}, a.explain(noun, err)
	}
	if found.AppID != told.ID || found.ID <= 0 || !isName(found.Account.Login) {
		return Installation{}, fault.New(fault.Temporary, "%s: the answer describes no installation of the App %s", noun, told.Slug)
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
	told, err := a.ask(ctx)
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
		if !told.Permissions.Grants(permission) {
			advice = fmt.Sprintf("the owner of the App adds it at %s, then %s", a.permissionsURL(told), advice)
			break
		}
	}
	return fault.New(fault.Unauthorized, "the installation of the App %s at %s lacks %s: %s", told.Slug, i.Account, listed(lacking), advice)
}

// suspended returns the error for a suspended installation.
func (a *App) suspended(i Installation) error {
	return fault.New(fault.Unauthorized, "the installation of the App at %s is suspended: an owner of %s lets it work again at %s", i.Account, i.Account, i.URL)
}

// gone returns the error for an installation that no longer exists.
func (a *App) gone(i Installation) error {
	return fault.New(fault.NotFound, "the App was removed from %s: install it again, or take the repositories of %s from the list", i.Account, i.Account)
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
	told, answered := answerOf(err)
	switch {
	case answered && told.Status == http.StatusForbidden && strings.Contains(told.Words, suspendedWords):
		return a.suspended(i)
	case answered && told.Status == http.StatusNotFound && !strings.Contains(told.Words, "Integration not found"):
		return a.gone(i)
	}
	return a.explain("a token for the installation at "+i.Account, err)
}
