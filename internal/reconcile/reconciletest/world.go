// Package reconciletest is an in-memory repository, registry and forge for tests of
// reconciliations. They behave like real ones, also when that is inconvenient: pushes and merges
// are conditional, responses can be lost, and users act at any time.
package reconciletest

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"promoter/internal/comments"
	"promoter/internal/identity"
	"promoter/internal/promotion"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/describe"
	"promoter/internal/reconcile/observe"
	"promoter/internal/repo"
	"promoter/internal/verb"
)

// By is the signature of promoter.
var By = repo.Signature{Name: "promoter", Email: "promoter@example.com"} //nolint:gochecknoglobals // a constant

// World is one repository with its registry, its forge and its clock.
type World struct {
	Git         *Git
	Registry    *Registry
	Forge       *Forge
	Clock       *Clock
	Permissions *Permissions
	By          repo.Signature // of promoter
	// Reported are the digests of new comments that webhooks reported.
	Reported Reported
}

// Reported implements comments.CommentEvents.
type Reported map[int64]string

// Digests implements comments.CommentEvents.
func (r Reported) Digests(_ context.Context, comments []int64) (map[int64]string, error) {
	found := map[int64]string{}
	for _, id := range comments {
		if digest, known := r[id]; known {
			found[id] = digest
		}
	}
	return found, nil
}

// Clock is a clock that tests set.
type Clock struct {
	mutex sync.Mutex
	now   time.Time
}

// NewClock returns a clock at a time.
func NewClock(at time.Time) *Clock { return &Clock{now: at} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now
}

// Add advances the clock.
func (c *Clock) Add(d time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now = c.now.Add(d)
}

// Noon is noon on a working day in Berlin, not near a change of daylight saving time.
func Noon() time.Time { return time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC) }

// New returns a world with a config and files.
func New(config string, files map[string]string) *World {
	clock := NewClock(Noon())
	all := maps.Clone(files)
	all[repo.ConfigFile] = config
	git := NewGit(all, clock.Now().Add(-time.Hour))
	registry := NewRegistry()
	registry.Now = clock.Now
	return &World{Git: git, Registry: registry, Forge: NewForge(git, clock.Now), Clock: clock, Permissions: NewPermissions(), By: By, Reported: Reported{}}
}

// Reconciler returns a process of promoter; several may race.
func (w *World) Reconciler() *reconcile.Reconciler {
	return &reconcile.Reconciler{
		Clients: observe.Clients{
			Remote: w.Git, Objects: w.Git.Objects(), Files: Files{w.Git}, Registries: w.Registry, Forge: w.Forge,
			By: w.By, Now: w.Clock.Now, Log: slog.New(slog.DiscardHandler),
		},
		Users:    observe.Users{Permissions: w.Permissions, CommentEvents: w.Reported},
		Describe: describe.Readers{Images: w.Registry},
	}
}

// Permissions allows commands of everyone except strangers.
type Permissions struct {
	mutex sync.Mutex
	// Strangers may do nothing. Only lists the users of a verb, and Where the
	// environments of a user; without an entry it is everyone, everywhere.
	Strangers map[string]bool
	Only      map[verb.Verb][]string
	Where     map[string][]string
	// Fail may return an error for a user.
	Fail  func(user identity.User) error
	Asked int
}

// NewPermissions returns permissions without strangers.
func NewPermissions() *Permissions {
	return &Permissions{Strangers: map[string]bool{}, Only: map[verb.Verb][]string{}, Where: map[string][]string{}}
}

// Allowed implements comments.Permissions.
func (r *Permissions) Allowed(_ context.Context, user identity.User, verb verb.Verb, targets ...promotion.Deployment) (comments.Permission, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.Asked++
	if r.Fail != nil {
		if err := r.Fail(user); err != nil {
			return comments.Permission{}, err
		}
	}
	if only, named := r.Only[verb]; named && !slices.Contains(only, user.Login) {
		return comments.Permission{Reason: "only " + only[0] + " may " + string(verb)}, nil
	}
	for _, target := range targets {
		if where, named := r.Where[user.Login]; named && !slices.Contains(where, target.Target.Environment) {
			return comments.Permission{Reason: "not in " + target.Target.Environment}, nil
		}
	}
	return comments.Permission{Allowed: !r.Strangers[user.Login]}, nil
}

// Named implements comments.Permissions.
func (r *Permissions) Named(verb verb.Verb, _ ...promotion.Deployment) ([]string, bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	only, named := r.Only[verb]
	return only, named
}
