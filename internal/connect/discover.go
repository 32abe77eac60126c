package connect

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"promoter/internal/atomicfile"
	"promoter/internal/config"
	"promoter/internal/connect/rules"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/scm/github"
)

// Unconfigured is a repository that an App lists and that has no config file. Forks and
// archived repositories are left out.
type Unconfigured struct {
	Repository *Repository // not opened
	Key        identity.RepositoryKey
	// Version changes when the repository is pushed to.
	Version string
	// Settled reports that the next push changes Version: GitHub's times are whole
	// seconds, so one that follows a push at once may not.
	Settled bool
}

// settledAfter is how old a push must be for Unconfigured.Settled.
const settledAfter = time.Minute

// discover adds the repositories that have a config file, of all installations of the
// Apps whose repositories the server file does not list.
func (s *Session) discover(ctx context.Context) {
	for _, c := range s.Server.Discover {
		f := s.forges[c.Name]
		if f.Err != nil {
			s.addFailed(f, c.Name, f.Err)
			continue
		}
		found, err := f.App.GitHub.Installations(ctx)
		if err != nil {
			s.addFailed(f, c.Name, err)
			continue
		}
		d := discovery{session: s, forge: f, known: readUnconfigured(s.CacheFolder("unconfigured"), c.Name)}
		for _, i := range found {
			d.installation(ctx, i)
		}
		if len(found) == 0 {
			d.note("the App is installed nowhere")
		}
		if d.unconfigured > 0 {
			d.note("%d without %s left out", d.unconfigured, config.FileName)
		}
		if d.archived > 0 {
			d.note("%d archived left out", d.archived)
		}
		if err := d.known.save(); err != nil {
			d.note("keep which repositories have no config: %v", err)
		}
	}
}

// addFailed adds an entry for repositories that could not be found.
func (s *Session) addFailed(f *Forge, name string, err error) {
	s.Repositories = append(s.Repositories, &Repository{Name: name, Forge: f, Err: err})
}

// discovery finds the repositories of one App.
type discovery struct {
	session                *Session
	forge                  *Forge
	known                  *unconfiguredCache
	unconfigured, archived int
}

// installation adds the repositories of one installation. An error is one entry, and
// does not affect other installations.
func (d *discovery) installation(ctx context.Context, i github.Installation) {
	if i.Suspended {
		d.note("the installation at %s is suspended, and left out: an owner of %[1]s lets it work again at %s", i.Account, i.URL)
		return
	}
	used := d.forge.App.use(ctx, i)
	listed, err := used.repositories(ctx)
	if err != nil {
		d.session.addFailed(used.forge, i.Account+"/*", err)
		return
	}

	named := map[string]bool{}
	for _, r := range d.session.Repositories {
		named[r.Forge.Config.Address(r.Name)] = true
	}
	var candidates []github.Listed
	for _, one := range listed {
		switch {
		case one.Archived:
			d.archived++
		case !named[d.forge.Config.Address(one.Name)]:
			candidates = append(candidates, one)
		}
	}

	configured, failed := make([]bool, len(candidates)), make([]error, len(candidates))
	var group errgroup.Group
	group.SetLimit(Parallel)
	for n, one := range candidates {
		group.Go(func() error {
			if !d.known.has(one) {
				configured[n], failed[n] = used.github.Holds(ctx, one.Name, config.FileName)
			}
			return nil
		})
	}
	_ = group.Wait() // no function of the group fails

	now := d.session.Server.Now()
	for n, one := range candidates {
		r := &Repository{Name: one.Name, Forge: used.forge, Err: failed[n], credential: installationCredential(used.github.Installation)}
		if configured[n] || failed[n] != nil {
			d.session.Repositories = append(d.session.Repositories, r)
			continue
		}
		d.unconfigured++
		settled := !one.Pushed.IsZero() && now.Sub(one.Pushed) >= settledAfter
		if settled {
			d.known.add(one)
		}
		r.name = rules.Name{Text: r.Forge.Config.Address(r.Name), Fold: true}
		if key, err := identity.ForgeKey(r.Forge.Host(), one.ID); err == nil && !one.Fork {
			d.session.Unconfigured = append(d.session.Unconfigured,
				Unconfigured{Repository: r, Key: key, Version: version(one), Settled: settled})
		}
	}
}

func (d *discovery) note(format string, arguments ...any) {
	d.session.Notes = append(d.session.Notes, d.forge.Config.Name+": "+fmt.Sprintf(format, arguments...))
}

// HasConfigFile reports whether the repository HOST/OWNER/NAME has a config file. It
// asks the Apps whose repositories the server file does not list; a repository that no
// App may see is an error.
func (s *Session) HasConfigFile(ctx context.Context, name string) (bool, error) {
	host, short, _ := strings.Cut(name, "/")
	failed := fault.New(fault.NotFound, "no forge of the server file has it")
	for _, c := range s.Server.Discover {
		f := s.forges[c.Name]
		if !c.IsOn(host) || f.Err != nil {
			continue
		}
		i, err := f.App.GitHub.InstallationOf(ctx, short)
		if err != nil {
			failed = err
			continue
		}
		used := f.App.use(ctx, i)
		if used.forge.Err != nil {
			failed = used.forge.Err
			continue
		}
		return used.github.Holds(ctx, short, config.FileName)
	}
	return false, failed
}

// unconfiguredCache remembers which repositories had no config file. Where nothing was
// pushed since, there still is none, which saves a request for each in every session.
type unconfiguredCache struct {
	file string // empty: nothing is kept

	known map[string]string // versions by repository
	seen  map[string]string // the same, of this session
}

// maxUnconfigured bounds the file, in bytes.
const maxUnconfigured = 32 << 20

// readUnconfigured reads what an earlier session kept in a folder. If it cannot be
// read, it is empty.
func readUnconfigured(folder, forge string) *unconfiguredCache {
	u := &unconfiguredCache{seen: map[string]string{}}
	if folder == "" {
		return u
	}
	u.file = filepath.Join(folder, forge+".json")
	content, err := atomicfile.Read(u.file, maxUnconfigured)
	if err != nil || json.Unmarshal(content, &u.known) != nil {
		u.known = nil
	}
	return u
}

// version changes when a repository is pushed to.
func version(r github.Listed) string { return r.Branch + " " + r.Pushed.Format(time.RFC3339) }

// has reports whether a repository still has no config file.
func (u *unconfiguredCache) has(r github.Listed) bool { return u.known[r.Name] == version(r) }

func (u *unconfiguredCache) add(r github.Listed) { u.seen[r.Name] = version(r) }

// save keeps what this session saw.
func (u *unconfiguredCache) save() error {
	if u.file == "" {
		return nil
	}
	data, err := json.Marshal(u.seen)
	if err != nil {
		return err
	}
	return atomicfile.Replace(u.file, data)
}
