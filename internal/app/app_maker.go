package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"promoter/internal/connect"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/scm/github"
	"promoter/internal/secret"
	"promoter/internal/server"
)

// appMaker is the server.Maker of one forge.
type appMaker struct {
	page         string // of the GitHub
	organization string
	manifest     github.ManifestOptions
	folder       connect.AppFolder
	github       *github.Forge // without a credential
	// kept is told of the App, and says what comes next, in sentences.
	kept func(connect.StoredApp) []string

	mu sync.Mutex // one App is made at a time
}

// newAppMaker makes one that asks by the way of forges.
func newAppMaker(c *connect.Connections, page string) (*appMaker, error) {
	none := func(context.Context) (secret.String, error) { return secret.String{}, nil }
	asked, err := github.New(github.Options{URL: page, Token: none, HTTP: &http.Client{Transport: c.HTTP.Forges}, Now: c.Server.Now})
	return &appMaker{page: page, github: asked}, fault.Wrap(fault.Invalid, err)
}

// check says whether an App can be made: that it was described well, and that there
// is a place for it.
func (m *appMaker) check() (madeFolder bool, err error) {
	if kept, err := m.folder.Read(); err == nil {
		return false, fault.New(fault.Conflict, "%s holds the App %s already: install it at %s", m.folder, kept.Slug, kept.Install)
	}
	if _, err := github.Manifest(m.manifest); err != nil {
		return false, err
	}
	if _, err := github.RegisterURL(m.page, m.organization); err != nil {
		return false, err
	}
	return m.folder.Prepare()
}

// Preview implements server.Maker.
func (m *appMaker) Preview(context.Context) (server.AppPreview, error) {
	if _, err := m.check(); err != nil {
		return server.AppPreview{}, err
	}
	available := server.AppPreview{GitHub: outbound.Host(m.page), Owner: m.organization, Hook: m.manifest.Hook}
	var err error
	if available.Manifest, err = github.Manifest(m.manifest); err != nil {
		return server.AppPreview{}, err
	}
	if available.Action, err = github.RegisterURL(m.page, m.organization); err != nil {
		return server.AppPreview{}, err
	}
	asked, err := github.Asked(m.manifest.With)
	if err != nil {
		return server.AppPreview{}, err
	}
	for _, permission := range asked {
		what := strings.ReplaceAll(permission.For, "`", "") // which documents have
		available.Permissions = append(available.Permissions, server.AppPermission{Title: permission.String(), For: what})
	}
	available.Events = github.EventsOf(asked)
	return available, nil
}

// Create implements server.Maker.
func (m *appMaker) Create(ctx context.Context, code string) (server.CreatedApp, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.check(); err != nil {
		return server.CreatedApp{}, fmt.Errorf("GitHub made an App whose credentials cannot be kept, so delete it there: %w", err)
	}
	// The key comes once, also when the browser goes away.
	registered, err := m.github.Convert(context.WithoutCancel(ctx), code, m.manifest.Hook != "")
	if err != nil {
		return server.CreatedApp{}, err
	}
	kept, err := m.folder.Store(registered, m.manifest.Hook)
	if err != nil {
		return server.CreatedApp{}, fmt.Errorf("the App %s was made, but its credentials could not be kept: %w: delete it at %s, and begin again",
			registered.Slug, err, registered.Settings+"/advanced")
	}
	return server.CreatedApp{Name: kept.Slug, Install: kept.Install, Next: m.kept(kept)}, nil
}

// maxAppName is how long the name of an App may be.
const maxAppName = 34

// appName proposes a name that nobody else is likely to have, for they are one list
// for all of a GitHub; empty: the person thinks of one.
func appName(organization, address string) string {
	of := organization
	if of == "" {
		of = strings.ReplaceAll(strings.TrimPrefix(outbound.Hostname(outbound.Host(address)), "promoter."), ".", "-")
	}
	if name := "promoter-" + of; of != "" && len(name) <= maxAppName {
		return name
	}
	return ""
}
