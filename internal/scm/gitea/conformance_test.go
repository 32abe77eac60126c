package gitea_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/scm"
	"promoter/internal/scm/gitea"
	"promoter/internal/scm/gitea/giteatest"
	"promoter/internal/scm/scmtest"
	"promoter/internal/secret"
)

// The server returns fewer items per page than requested, as it may.
func TestConformance_server(t *testing.T) {
	t.Parallel()
	scmtest.Run(t, func(t *testing.T) scmtest.Bench {
		w := newWorld(t, giteatest.Options{MaxItems: 20})
		return w.repo.Bench(w.forge)
	})
}

func TestWire(t *testing.T) {
	t.Parallel()
	scmtest.Wire(t, func(d scmtest.Dial) (scm.Forge, error) {
		return gitea.New(gitea.Options{URL: d.URL, Token: d.Token, HTTP: d.HTTP, Now: d.Now})
	})
}

// self is the account under test.
const self = "promoter-bot"

// world is the strict server with one repository and a forge that uses it.
type world struct {
	*giteatest.Server
	repo  *giteatest.Repository
	token string
	forge *gitea.Forge
	ahead atomic.Int64 // of the clock of the forges, a duration
}

// later advances the clock of the forges.
func (w *world) later(by time.Duration) { w.ahead.Add(int64(by)) }

func newWorld(t *testing.T, options ...giteatest.Options) *world {
	t.Helper()
	with := giteatest.Options{}
	if len(options) > 0 {
		with = options[0]
	}
	if with.Now == nil {
		with.Now = scmtest.Ticking()
	}
	var err error
	if with.Recorded, err = giteatest.ReadRecorded(); err != nil {
		t.Fatal(err)
	}
	w := &world{Server: giteatest.New(t, with)}
	w.repo = w.NewRepository("acme/deploy", map[string]string{"a.yaml": "image: web:1\n"})
	w.repo.Settings.Permit(self, "write")
	w.token = w.Token(self, giteatest.Scopes()...)
	w.forge = w.ask(t)
	return w
}

// ask returns a forge that uses the server with the token.
func (w *world) ask(t *testing.T) *gitea.Forge {
	t.Helper()
	forge, err := gitea.New(gitea.Options{
		URL: w.URL(), HTTP: w.Client(), Now: func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) },
		Token: func(context.Context) (secret.String, error) { return secret.New(w.token), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return forge
}

// open opens the repository for one reconciliation.
func (w *world) open(t *testing.T) scm.Repository {
	t.Helper()
	repo, err := w.forge.Open(t.Context(), w.repo.Settings.Name())
	if err != nil {
		t.Fatal(err)
	}
	return repo
}
