package githubtest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"promoter/internal/scm/forgetest"
)

// App is a GitHub App: it authenticates with tokens that it signs, and acts where it
// is installed. Its account is SLUG[bot].
type App struct {
	s           *Server
	id          int64
	slug        string
	owner, bot  *user
	key         *rsa.PrivateKey
	permissions map[string]string // that it requests
	events      []string          // that it subscribes to
	hook        *Hook             // nil: none
}

// Installation is the installation of an App on an account.
type Installation struct {
	app         *App
	id          int64
	account     *user
	all         bool // all repositories of the account
	selected    []*Repository
	permissions map[string]string // that were accepted
	suspended   time.Time
	removed     bool
	limit       *limit
}

// tokenLife is the validity of an installation token.
const tokenLife = time.Hour

// keys holds a few private keys, each created once per test binary: creating one
// takes a tenth of a second.
var keys = [...]func() *rsa.PrivateKey{sync.OnceValue(newKey), sync.OnceValue(newKey), sync.OnceValue(newKey)}

func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

// NewApp creates an App that requests these permissions. It belongs to the account
// app-owner.
func (s *Server) NewApp(slug string, permissions map[string]string) *App {
	var made *App
	s.act(func() { made = s.newApp(slug, s.hub.User("app-owner"), permissions) })
	return made
}

func (s *Server) newApp(slug string, owner *user, permissions map[string]string) *App {
	made := &App{
		s: s, id: 200_000 + s.hub.NextID(), slug: slug, owner: owner, bot: s.hub.User(slug + "[bot]"),
		key: keys[len(s.apps)%len(keys)](), permissions: maps.Clone(permissions),
	}
	s.apps = append(s.apps, made)
	return made
}

// ID returns the number on the App's page.
func (a *App) ID() int64 { return a.id }

// Login returns the account of the App.
func (a *App) Login() string { return a.bot.Login }

// Key returns the private key as GitHub provides it for download: PEM with PKCS#1.
func (a *App) Key() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(a.key)}))
}

// Ask changes the permissions that the App requests. Installations keep what was
// accepted.
func (a *App) Ask(permissions map[string]string) {
	a.s.act(func() { a.permissions = maps.Clone(permissions) })
}

// Subscribe changes the events that the App's webhook receives.
func (a *App) Subscribe(events ...string) {
	a.s.act(func() { a.events = slices.Clone(events) })
}

// Install installs the App on an organization, for these of its repositories, or for
// all. All permissions that the App requests are accepted.
func (a *App) Install(account string, repositories ...*Repository) *Installation {
	var made *Installation
	a.s.act(func() {
		made = &Installation{
			app: a, id: 300_000 + a.s.hub.NextID(), account: a.s.hub.User(account), all: len(repositories) == 0,
			selected: repositories, permissions: maps.Clone(a.permissions),
		}
		made.account.Organization = true
		a.s.installations = append(a.s.installations, made)
	})
	return made
}

// ID returns its number.
func (i *Installation) ID() int64 { return i.id }

// Permit changes the accepted permissions.
func (i *Installation) Permit(permissions map[string]string) {
	i.app.s.act(func() { i.permissions = maps.Clone(permissions) })
}

// Select changes the repositories of the installation to these.
func (i *Installation) Select(repositories ...*Repository) {
	i.app.s.act(func() { i.all, i.selected = false, repositories })
}

// Suspend suspends the installation until Resume.
func (i *Installation) Suspend() { i.app.s.act(func() { i.suspended = i.app.s.hub.Now() }) }

// Resume ends a suspension.
func (i *Installation) Resume() { i.app.s.act(func() { i.suspended = time.Time{} }) }

// Remove uninstalls the App from the account. Its tokens are revoked immediately.
func (i *Installation) Remove() { i.app.s.act(func() { i.removed = true }) }

// Limit rejects all requests of the installation with the primary rate limit until
// the time.
func (i *Installation) Limit(until time.Time) {
	i.app.s.act(func() { i.limit = &limit{until: until} })
}

// RevokeTokens revokes the existing tokens.
func (i *Installation) RevokeTokens() {
	i.app.s.act(func() {
		maps.DeleteFunc(i.app.s.tokens, func(_ string, t *token) bool { return t.installation == i })
	})
}

// has reports whether a repository belongs to the installation.
func (i *Installation) has(r *forgetest.Repository) bool {
	return lower(r.Owner) == lower(i.account.Login) && !r.Removed && (i.all || slices.ContainsFunc(i.selected, func(one *Repository) bool { return one.model == r }))
}

// repositories lists the repositories by ID.
func (i *Installation) repositories() []*forgetest.Repository {
	var all []*forgetest.Repository
	for _, id := range slices.Sorted(maps.Keys(i.app.s.hub.Repos)) {
		if r := i.app.s.hub.Repos[id]; i.has(r) {
			all = append(all, r)
		}
	}
	return all
}

// installed returns the existing installations of the App.
func (a *App) installed() []*Installation {
	return slices.DeleteFunc(slices.Clone(a.s.installations), func(i *Installation) bool { return i.app != a || i.removed })
}

// Repository returns a repository by its name; an unknown one fails the test.
func (s *Server) Repository(name string) *Repository {
	var found *Repository
	s.act(func() {
		model := s.hub.Find(name)
		if model == nil {
			panic(fmt.Errorf("there is no repository %s", name))
		}
		found = own(model)
	})
	return found
}

// TokenPermissions returns the permissions of each token that was created.
func (i *Installation) TokenPermissions() []map[string]string {
	var all []map[string]string
	i.app.s.act(func() {
		for _, t := range i.app.s.tokens {
			if t.installation == i {
				all = append(all, maps.Clone(t.permissions))
			}
		}
	})
	return all
}
