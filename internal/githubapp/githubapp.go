// Package githubapp creates GitHub Apps with the permissions and events that promoter
// needs, through GitHub's manifest flow: a page with one button, GitHub's own page to
// confirm, and a redirect back with a code that promoter exchanges for the credentials.
//
// GitHub returns the private key once. So the folder for it is checked before the page is
// shown, and again before the exchange, and no file is ever overwritten.
//
// Create does it on the machine of a user (promoter app create). Setups returns the pages
// on which a service does it for the forges of its server file.
package githubapp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/scm/github"
	"promoter/internal/secret"
	"promoter/internal/server"
	"promoter/internal/serverfile"
)

// minSetupSecret is the minimum length of the secret of a setup page, in bytes.
const minSetupSecret = 32

// Setups returns a page for each forge of the server file that has app.setup. The secret
// of a page is not required once the App exists. The function created is called with an
// App after its credentials were stored, and returns what to do next, in sentences.
func Setups(c *connect.Connections, created func(forge string, app serverfile.StoredApp) (next []string)) ([]*server.Setup, error) {
	var setups []*server.Setup
	for _, forge := range c.Server.File.Forges {
		if forge.App == nil || forge.App.Setup.IsZero() {
			continue
		}
		setup, err := newSetup(c, forge, created)
		if _, missing := c.Server.AppFolder(forge.Name).Read(); err != nil && missing == nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		setups = append(setups, setup)
	}
	return setups, nil
}

func newSetup(
	c *connect.Connections, forge serverconfig.Forge, created func(string, serverfile.StoredApp) []string,
) (*server.Setup, error) {
	word, err := setupSecret(c.Server, forge)
	if err != nil {
		return nil, err
	}
	made, err := newCreator(c, forge.URL)
	if err != nil {
		return nil, err
	}
	address := c.Server.File.URL
	made.folder, made.organization = c.Server.AppFolder(forge.Name), forge.App.Organization
	made.manifest = github.ManifestOptions{
		Name: proposeName(forge.App.Organization, address), Homepage: address, Redirect: address + server.SetupCallbackPath(forge.Name),
	}
	if receiver, found := serverfile.AppReceiver(c.Server.File, forge.Name); found {
		made.manifest.Hook = address + serverfile.WebhookPath(receiver.Name)
	}
	made.created = func(app serverfile.StoredApp) []string { return created(forge.Name, app) }
	return &server.Setup{Name: forge.Name, Secret: word, Creator: made}, nil
}

// setupSecret returns the secret of the page of a forge.
func setupSecret(s *serverfile.Server, forge serverconfig.Forge) (secret.String, error) {
	word, err := s.Secret(forge.App.Setup)
	if err != nil {
		return word, err
	}
	const advice = "make one with openssl rand -hex 32"
	return secret.Checked(word, "forge "+forge.Name, func(word secret.String) error {
		switch {
		case len(word.Reveal()) < minSetupSecret:
			return fault.New(fault.Invalid, "app.setup of %s (%s) is shorter than %d characters: "+advice, forge.Name,
				forge.App.Setup, minSetupSecret)
		case url.PathEscape(word.Reveal()) != word.Reveal(): // a user who appends it to the address would get another path
			return fault.New(fault.Invalid, "app.setup of %s (%s) has characters that mean something else in an address: "+advice,
				forge.Name, forge.App.Setup)
		}
		return nil
	})
}

// creator creates the App of one forge. It implements server.AppCreator.
type creator struct {
	github       *github.Forge // without a credential
	page         string        // of the GitHub
	organization string
	manifest     github.ManifestOptions
	folder       serverfile.AppFolder
	created      func(serverfile.StoredApp) (next []string)

	mutex sync.Mutex // one App is created at a time
}

// newCreator makes a creator that uses the HTTP client of the forges.
func newCreator(c *connect.Connections, page string) (*creator, error) {
	none := func(context.Context) (secret.String, error) { return secret.String{}, nil }
	forge, err := github.New(github.Options{URL: page, Token: none, HTTP: &http.Client{Transport: c.HTTP.Forges}, Now: c.Server.Now})
	return &creator{page: page, github: forge}, fault.Wrap(fault.Invalid, err)
}

// check returns an error unless the App can be created: its description is valid, and
// its credentials can be stored. It creates the folder.
func (c *creator) check() (madeFolder bool, err error) {
	if stored, err := c.folder.Read(); err == nil {
		return false, fault.New(fault.Conflict, "%s holds the App %s already: install it at %s", c.folder, stored.Slug, stored.Install)
	}
	if _, err := github.Manifest(c.manifest); err != nil {
		return false, err
	}
	if _, err := github.RegisterURL(c.page, c.organization); err != nil {
		return false, err
	}
	return c.folder.Prepare()
}

// Preview implements server.AppCreator.
func (c *creator) Preview(context.Context) (server.AppPreview, error) {
	if _, err := c.check(); err != nil {
		return server.AppPreview{}, err
	}
	preview := server.AppPreview{GitHub: outbound.Host(c.page), Owner: c.organization, Hook: c.manifest.Hook}
	var err error
	if preview.Manifest, err = github.Manifest(c.manifest); err != nil {
		return server.AppPreview{}, err
	}
	if preview.Action, err = github.RegisterURL(c.page, c.organization); err != nil {
		return server.AppPreview{}, err
	}
	requested, err := github.Asked(c.manifest.With)
	if err != nil {
		return server.AppPreview{}, err
	}
	for _, permission := range requested {
		purpose := strings.ReplaceAll(permission.For, "`", "") // the text is Markdown, for the docs
		preview.Permissions = append(preview.Permissions, server.AppPermission{Title: permission.String(), For: purpose})
	}
	preview.Events = github.EventsOf(requested)
	return preview, nil
}

// Create implements server.AppCreator.
func (c *creator) Create(ctx context.Context, code string) (server.CreatedApp, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if _, err := c.check(); err != nil {
		return server.CreatedApp{}, fmt.Errorf("GitHub created an App whose credentials cannot be stored, so delete it there: %w", err)
	}
	// The key comes once, so a browser that goes away does not cancel the request.
	registered, err := c.github.Convert(context.WithoutCancel(ctx), code, c.manifest.Hook != "")
	if err != nil {
		return server.CreatedApp{}, err
	}
	stored, err := c.folder.Store(registered, c.manifest.Hook)
	if err != nil {
		const problem = "GitHub created the App %s, but its credentials could not be stored: %w: delete it at %s, and start again"
		return server.CreatedApp{}, fmt.Errorf(problem, registered.Slug, err, registered.Settings+"/advanced")
	}
	return server.CreatedApp{Name: stored.Slug, Install: stored.Install, Next: c.created(stored)}, nil
}

// maxName is the maximum length of the name of an App.
const maxName = 34

// proposeName proposes a name that is likely to be free, because App names are unique on
// a GitHub; empty: the user has to choose one.
func proposeName(organization, address string) string {
	suffix := organization
	if suffix == "" {
		suffix = strings.ReplaceAll(strings.TrimPrefix(outbound.Hostname(outbound.Host(address)), "promoter."), ".", "-")
	}
	if name := "promoter-" + suffix; suffix != "" && len(name) <= maxName {
		return name
	}
	return ""
}
