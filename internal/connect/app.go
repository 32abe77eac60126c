package connect

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"promoter/internal/scm/github"
)

// App is the GitHub App of a forge. Each of its installations is a forge of its own,
// with its own credential, rate limits, and cached answers.
type App struct {
	GitHub *github.App

	forge *Forge // as the server file has it
	mutex sync.Mutex
	used  map[int64]*installation
	older map[int64]*github.Installed // of the session before
}

// installation is the forge of one installation.
type installation struct {
	forge  *Forge
	github *github.Installed // nil where the forge has an error
}

// use returns the forge of an installation, the same one each time. One that cannot be
// used has an error, which is that of its repositories.
func (a *App) use(ctx context.Context, i github.Installation) *installation {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if known := a.used[i.ID]; known != nil {
		return known
	}
	f := &Forge{Config: a.forge.Config, public: a.forge.public}
	made := &installation{forge: f}
	a.used[i.ID] = made
	if f.Err = a.GitHub.Check(ctx, i); f.Err != nil {
		return made
	}
	if made.github, f.Err = a.GitHub.UseAgain(ctx, a.older[i.ID], i); f.Err == nil {
		f.SCM, f.token = made.github, made.github.Token
	}
	return made
}

// repositories lists the repositories of the installation.
func (i *installation) repositories(ctx context.Context) ([]github.Listed, error) {
	if i.forge.Err != nil {
		return nil, i.forge.Err
	}
	return i.github.Repositories(ctx)
}

// usable returns the installations that were used without an error, by ID.
func (a *App) usable() map[int64]*github.Installed {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	all := map[int64]*github.Installed{}
	for id, one := range a.used {
		if one.forge.Err == nil {
			all[id] = one.github
		}
	}
	return all
}

// installed returns the usable installations, and those of the session before that
// this one has not used yet, by account.
func (a *App) installed() []*github.Installed {
	all := a.usable()
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for id, one := range a.older {
		if a.used[id] == nil {
			all[id] = one
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *github.Installed) int {
		return cmp.Compare(a.Installation.Account, b.Installation.Account)
	})
}

// installationCredential names an installation in an error.
func installationCredential(i github.Installation) string {
	return fmt.Sprintf("the installation of the App at %s (%s)", i.Account, i.URL)
}

// noteClockSkew notes that an App had to correct the clock of this machine.
func (s *Session) noteClockSkew() {
	for _, c := range s.Server.Forges() {
		app := s.forges[c.Name].App
		if app == nil || app.GitHub.Skew() == 0 {
			continue
		}
		skew, direction := app.GitHub.Skew().Round(time.Second), "behind"
		if skew < 0 {
			skew, direction = -skew, "ahead of"
		}
		s.Notes = append(s.Notes,
			fmt.Sprintf("%s: the clock of this machine is %s %s GitHub's: set it, for instance with NTP", c.Name, skew, direction))
	}
}
