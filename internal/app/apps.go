package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm/github"
	"promoter/internal/secret"
)

// installations are the places where the GitHub App of a forge is installed. Each
// is a forge of its own, with its own credential, limits and remembered answers.
type installations struct {
	base *forge // as the file has it
	app  *github.App

	mutex sync.Mutex
	known map[int64]*installed
	stood map[int64]*github.Installed // those of an earlier round
}

// installed is one installation: a forge that knows what it is at GitHub.
type installed struct {
	*forge
	github *github.Installed // nil where the forge has an error
}

// repositories lists what the installation sees.
func (i *installed) repositories(ctx context.Context) ([]github.Listed, error) {
	if i.err != nil {
		return nil, i.err
	}
	return i.github.Repositories(ctx)
}

// wireApp wires the App of a forge. Itself it opens nothing.
func (w *work) wireApp(f *forge) error {
	id, key, err := w.server.appOf(f.config)
	if err != nil {
		return err
	}
	app, err := github.NewApp(github.AppOptions{
		URL: f.config.URL, ID: strconv.FormatInt(id, 10), Key: key,
		HTTP: &http.Client{Transport: w.ways.forges}, Now: w.server.now, Pace: w.server.pace,
	})
	if err != nil {
		from := cmp.Or(f.config.App.Key.String(), w.server.appFolder(f.config.Name).path(appKeyFile))
		return fmt.Errorf("the App of the forge %s, %s: %w", f.config.Name, from, fault.Wrap(fault.Invalid, err))
	}
	if f.public, err = w.github(f.config, secret.String{}); err != nil {
		return err
	}
	f.app = &installations{base: f, app: app, known: map[int64]*installed{}}
	return nil
}

// use returns the forge of an installation, the same one each time. One that
// cannot be worked with has an error, which is that of its repositories.
func (a *installations) use(ctx context.Context, i github.Installation) *installed {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if known := a.known[i.ID]; known != nil {
		return known
	}
	used := &installed{forge: &forge{config: a.base.config, public: a.base.public}}
	a.known[i.ID] = used
	if used.err = a.app.Check(ctx, i); used.err != nil {
		return used
	}
	if used.github, used.err = a.app.UseAgain(ctx, a.stood[i.ID], i); used.err == nil {
		used.scm, used.token = used.github, used.github.Token
	}
	return used
}

// rightsOf names an installation for advice.
func rightsOf(i github.Installation) string {
	return fmt.Sprintf("the installation of the App at %s (%s)", i.Account, i.URL)
}

// install finds the installation that a repository belongs to, and works with that
// from then on.
func (r *repository) install(ctx context.Context) error {
	i, err := r.forge.app.app.InstallationOf(ctx, r.name)
	if err != nil {
		return err
	}
	r.rights, r.forge = rightsOf(i), r.forge.app.use(ctx, i).forge
	return r.forge.err
}

// noteClocks says where the clock of this machine had to be made up for.
func (w *work) noteClocks() {
	for _, c := range w.server.allForges() {
		f := w.forges[c.Name]
		if f == nil || f.app == nil || f.app.app.Skew() == 0 {
			continue
		}
		skew, direction := f.app.app.Skew().Round(time.Second), "behind"
		if skew < 0 {
			skew, direction = -skew, "ahead of"
		}
		w.notes = append(w.notes, fmt.Sprintf("%s: the clock of this machine is %s %s GitHub's: set it, for instance with NTP", c.Name, skew, direction))
	}
}
