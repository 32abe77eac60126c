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
)

// App is a GitHub App: it says who it is with tokens that it signs, and works
// where it is installed. Its account is SLUG[bot].
type App struct {
	s           *Server
	id          int64
	slug        string
	owner, bot  *user
	key         *rsa.PrivateKey
	permissions map[string]string // that it asks for
	events      []string          // that it subscribes to
	hook        *Hook             // nil: it has none
}

// Installation is an App on an account.
type Installation struct {
	app         *App
	id          int64
	account     *user
	all         bool // of the account's repositories
	selected    []*Repository
	permissions map[string]string // that were accepted
	suspended   time.Time
	removed     bool
	limit       *limit
}

// tokenLife is how long the token of an installation lives.
const tokenLife = time.Hour

// keys are a few private keys, each made once per test binary: making one takes
// a tenth of a second.
var keys = [...]func() *rsa.PrivateKey{sync.OnceValue(newKey), sync.OnceValue(newKey), sync.OnceValue(newKey)}

func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

// NewApp makes an App that asks for these permissions. It belongs to the account
// app-owner.
func (s *Server) NewApp(slug string, permissions map[string]string) *App {
	var made *App
	s.act(func() { made = s.newApp(slug, s.user("app-owner"), permissions) })
	return made
}

func (s *Server) newApp(slug string, owner *user, permissions map[string]string) *App {
	made := &App{
		s: s, id: 200_000 + s.next(), slug: slug, owner: owner, bot: s.user(slug + "[bot]"),
		key: keys[len(s.apps)%len(keys)](), permissions: maps.Clone(permissions),
	}
	s.apps = append(s.apps, made)
	return made
}

// ID is the number that the App's page shows.
func (a *App) ID() int64 { return a.id }

// Login is the account that the App works as.
func (a *App) Login() string { return a.bot.login }

// Key is the private key as GitHub gives it for download: PEM with PKCS#1.
func (a *App) Key() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(a.key)}))
}

// Ask changes what the App asks for. Installations keep what was accepted.
func (a *App) Ask(permissions map[string]string) {
	a.s.act(func() { a.permissions = maps.Clone(permissions) })
}

// Subscribe changes the events that the App's webhook tells of.
func (a *App) Subscribe(events ...string) {
	a.s.act(func() { a.events = slices.Clone(events) })
}

// Install installs the App on an organization, for these of its repositories, or
// for all. All that the App asks for is accepted.
func (a *App) Install(account string, repositories ...*Repository) *Installation {
	var made *Installation
	a.s.act(func() {
		made = &Installation{
			app: a, id: 300_000 + a.s.next(), account: a.s.user(account), all: len(repositories) == 0,
			selected: repositories, permissions: maps.Clone(a.permissions),
		}
		made.account.organization = true
		a.s.installations = append(a.s.installations, made)
	})
	return made
}

// ID is its number.
func (i *Installation) ID() int64 { return i.id }

// Permit changes what is accepted.
func (i *Installation) Permit(permissions map[string]string) {
	i.app.s.act(func() { i.permissions = maps.Clone(permissions) })
}

// Select changes the repositories of the installation to these.
func (i *Installation) Select(repositories ...*Repository) {
	i.app.s.act(func() { i.all, i.selected = false, repositories })
}

// Suspend lets the installation do nothing until Resume.
func (i *Installation) Suspend() { i.app.s.act(func() { i.suspended = i.app.s.time() }) }

// Resume ends a suspension.
func (i *Installation) Resume() { i.app.s.act(func() { i.suspended = time.Time{} }) }

// Remove takes the App off the account. Its tokens end at once.
func (i *Installation) Remove() { i.app.s.act(func() { i.removed = true }) }

// Limit answers all requests of the installation with the primary limit until the
// time.
func (i *Installation) Limit(until time.Time) {
	i.app.s.act(func() { i.limit = &limit{until: until} })
}

// RevokeTokens ends the tokens that there are.
func (i *Installation) RevokeTokens() {
	i.app.s.act(func() {
		maps.DeleteFunc(i.app.s.tokens, func(_ string, t *token) bool { return t.installation == i })
	})
}

// has says whether a repository belongs to the installation.
func (i *Installation) has(r *Repository) bool {
	return lower(r.owner) == lower(i.account.login) && !r.removed && (i.all || slices.Contains(i.selected, r))
}

// repositories lists them by id.
func (i *Installation) repositories() []*Repository {
	var all []*Repository
	for _, id := range slices.Sorted(maps.Keys(i.app.s.repos)) {
		if r := i.app.s.repos[id]; i.has(r) {
			all = append(all, r)
		}
	}
	return all
}

// installed are the installations of the App that there are.
func (a *App) installed() []*Installation {
	return slices.DeleteFunc(slices.Clone(a.s.installations), func(i *Installation) bool { return i.app != a || i.removed })
}

// Repository returns a repository by its name; an unknown one fails the test.
func (s *Server) Repository(name string) *Repository {
	var found *Repository
	s.act(func() {
		if found = s.repos[s.names[lower(name)]]; found == nil {
			panic(fmt.Errorf("there is no repository %s", name))
		}
	})
	return found
}

// TokenPermissions are the permissions of each token that was made.
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
