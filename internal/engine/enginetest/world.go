package enginetest

import (
	"log/slog"
	"maps"
	"sync"
	"time"

	"promoter/internal/engine"
)

// By is who promoter commits as.
var By = engine.Signature{Name: "promoter", Email: "promoter@example.com"} //nolint:gochecknoglobals // a constant

// World is one repository with its registry, its forge and its clock.
type World struct {
	Git         *Git
	Registry    *Registry
	Forge       *Forge
	Clock       *Clock
	Permissions *Permissions
}

// Clock is a clock that tests move.
type Clock struct {
	mutex sync.Mutex
	now   time.Time
}

// NewClock makes a clock that stands at a time.
func NewClock(at time.Time) *Clock { return &Clock{now: at} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now
}

// Add moves the clock on.
func (c *Clock) Add(d time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now = c.now.Add(d)
}

// Noon is a working day in Berlin, outside every clock change.
func Noon() time.Time { return time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC) }

// New makes a world around a config and files.
func New(config string, files map[string]string) *World {
	clock := NewClock(Noon())
	all := maps.Clone(files)
	all[engine.ConfigFile] = config
	git := NewGit(all, clock.Now().Add(-time.Hour))
	return &World{Git: git, Registry: NewRegistry(), Forge: NewForge(git, clock.Now), Clock: clock, Permissions: NewPermissions()}
}

// Reconciler is a process of promoter that looks at the world; several may race.
func (w *World) Reconciler() *engine.Reconciler {
	return &engine.Reconciler{
		Remote: w.Git, Objects: w.Git.Objects(), Files: Files{w.Git}, Registries: w.Registry, Repository: w.Forge,
		By: By, Now: w.Clock.Now, Log: slog.New(slog.DiscardHandler), Permissions: w.Permissions,
	}
}
