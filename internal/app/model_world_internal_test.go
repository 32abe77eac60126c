package app

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"promoter/internal/connect"
	"promoter/internal/git/gittest"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/modeltest"
	"promoter/internal/reconcile/reconciletest"
	"promoter/internal/scm"
	"promoter/internal/scm/scmtest"
	"promoter/internal/serverfile"
	"promoter/internal/workspace"
)

// The model test on forges: the fake of each behind its own adapter, a real
// repository behind a mirror, and workspaces like those of a run. Only the registry is
// a stand-in, which needs no network.

// modelBudget is how long stories are started on each forge. One takes some seconds.
const modelBudget = 3 * time.Second

// modelEvents is the number of events of one story.
const modelEvents = 30

// playOn plays stories on a forge.
func playOn(t *testing.T, serve func(*testing.T, modelStart) served) {
	t.Helper()
	modeltest.Model{
		Events: modelEvents, Budget: modelBudget, Apart: true,
		New: func(t *testing.T, random *rand.Rand, files map[string]string) modeltest.World {
			t.Helper()
			clock := reconciletest.NewClock(reconciletest.Noon())
			return modelWorldOf(t, clock, serve(t, modelStart{clock: clock, random: random, files: files}))
		},
	}.Play(t)
}

// modelStart is what a forge starts with.
type modelStart struct {
	clock  *reconciletest.Clock
	random *rand.Rand // chooses the kind of server
	files  map[string]string
}

// perhaps is true once in a few times.
func (s modelStart) perhaps(in int) bool { return s.random.IntN(in) == 0 }

// served is a running forge with one repository.
type served struct {
	options serverfile.Options
	token   string // of promoter; empty: none is needed
	dir     string // of the bare repository
	bench   func(scm.Forge) scmtest.Bench
}

// modelWorld starts processes of promoter on a repository.
type modelWorld struct {
	connections *connect.Connections
	registry    *reconciletest.Registry
	caches      string // a folder of caches
	running     int    // processes, one inside the other
}

func modelWorldOf(t *testing.T, clock *reconciletest.Clock, s served) modeltest.World {
	t.Helper()
	begin := time.Now()
	// Rate limits need a clock that runs. Commits and decisions have that of the story.
	s.options.Now = func() time.Time { return clock.Now().Add(time.Since(begin)) }
	s.options.WritePace = -1
	connections, err := connect.Connect(s.options)
	if err != nil {
		t.Fatal(err)
	}
	m := &modelWorld{connections: connections, registry: reconciletest.NewRegistry(), caches: t.TempDir()}
	m.registry.Now = clock.Now
	return modeltest.World{
		Bench: s.bench(m.forge(t)), Store: newBareStore(t, s.dir), Clock: clock, Registry: m.registry, Reconciler: m.start,
		Secret: s.token,
		Clean: func(base, head string) bool {
			command := exec.CommandContext(t.Context(), "git", "merge-tree", "--write-tree", "refs/heads/"+base, head)
			command.Dir, command.Env = s.dir, gittest.Environ()
			return command.Run() == nil
		},
	}
}

// forge is the adapter as promoter wires it, for observers.
func (m *modelWorld) forge(t *testing.T) scm.Forge {
	t.Helper()
	session, err := m.connections.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return session.Repositories[0].Forge.SCM
}

// start starts a process: the first one has the mirror of those before, and so has one
// that runs inside it.
func (m *modelWorld) start(t *testing.T, fresh bool) (*reconcile.Reconciler, func(), error) {
	t.Helper()
	cache := ""
	if !fresh && m.running < 2 {
		cache = filepath.Join(m.caches, fmt.Sprint(m.running))
	}
	w, err := m.connections.Open(t.Context(), cache)
	if err != nil {
		return nil, nil, err
	}
	l, err := workspace.Open(t.Context(), w, w.Repositories[0], workspace.Options{})
	if err != nil {
		return nil, nil, errors.Join(err, w.Close())
	}
	m.running++
	l.Reconciler.Clients.Registries, l.Reconciler.Clients.Pause = m.registry, nil
	return &l.Reconciler, func() {
		m.running--
		if err := errors.Join(l.Close(), w.Close()); err != nil {
			t.Error(err)
		}
	}, nil
}

// serverFile writes the server file of one repository on a forge on this machine, and
// returns the options to open it.
func serverFile(t *testing.T, kind, url, repository, token string) serverfile.Options {
	t.Helper()
	file := filepath.Join(t.TempDir(), "server.yaml")
	text := fmt.Sprintf(`version: 1
forges:
  forge: {kind: %s, url: "%s", insecure: true, token: "env:TOKEN"}
repositories:
  - {forge: forge, name: %s}
networks: [127.0.0.0/8]
rateLimits: [{host: "*", perSecond: 1000, burst: 10000}]
`, kind, url, repository)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return serverfile.Options{WritePace: -1, Config: file, Env: func(name string) (string, bool) { return token, name == "TOKEN" }}
}

// modelAuthor is the author of commits without a forge.
func modelAuthor(name string, clock *reconciletest.Clock) gittest.Author {
	return gittest.Author{Name: name, Email: name + "@example.com", At: clock.Now()}
}

func noEnv(string) (string, bool) { return "", false }
