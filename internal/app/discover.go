package app

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"promoter/internal/scm/github"
)

// discover adds the repositories of all installations that have a config file.
func (w *work) discover(ctx context.Context) {
	for _, c := range w.server.everywhere {
		f := w.forges[c.Name]
		if f.err != nil {
			w.addFailed(f, c.Name, f.err)
			continue
		}
		found, err := f.app.app.Installations(ctx)
		if err != nil {
			w.addFailed(f, c.Name, err)
			continue
		}
		s := search{work: w, of: f, known: readUnconfigured(w.cacheFolder("unconfigured"), c.Name, w.server.now())}
		for _, i := range found {
			s.installation(ctx, i)
		}
		s.sum(len(found))
		if err := s.known.save(); err != nil {
			s.note("%v", err)
		}
	}
}

// addFailed adds what stands for repositories that could not be found.
func (w *work) addFailed(f *forge, name string, err error) {
	w.repositories = append(w.repositories, &repository{target: target{name: name, forge: f.config}, forge: f, err: err})
}

// search looks for the repositories of one App.
type search struct {
	work              *work
	of                *forge
	known             *unconfigured
	without, archived int
}

// installation adds the repositories of one installation. What is wrong with it is
// one entry, and stops no other.
func (s *search) installation(ctx context.Context, i github.Installation) {
	if i.Suspended {
		s.note("the installation at %s is suspended, and left out: an owner of %[1]s lets it work again at %s", i.Account, i.URL)
		return
	}
	used := s.of.app.use(ctx, i)
	listed, err := used.repositories(ctx)
	if err != nil {
		s.work.addFailed(used.forge, i.Account+"/*", err)
		return
	}
	s.add(ctx, used, s.writable(listed))
}

// writable leaves out what is archived, and what is worked on already.
func (s *search) writable(listed []github.Listed) []github.Listed {
	taken := map[string]bool{}
	for _, r := range s.work.repositories {
		taken[hostAndName(r.target)] = true
	}
	var left []github.Listed
	for _, one := range listed {
		switch {
		case one.Archived:
			s.archived++
		case !taken[hostAndName(target{name: one.Name, forge: s.of.config})]:
			left = append(left, one)
		}
	}
	return left
}

func hostAndName(t target) string {
	return strings.ToLower(hostOf(t.forge.URL) + "/" + t.name)
}

// add asks which repositories have a config file, a few at a time, and adds those.
func (s *search) add(ctx context.Context, used *installed, listed []github.Listed) {
	found := make([]*repository, len(listed))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for n, one := range listed {
		group.Go(func() error {
			found[n] = s.look(ctx, used, one)
			return nil
		})
	}
	_ = group.Wait() // no function of the group fails
	for n, r := range found {
		if r == nil {
			s.without++
			s.consider(used, listed[n])
			continue
		}
		s.work.repositories = append(s.work.repositories, r)
	}
}

// look returns a repository to work on, or none where it has no config file. One
// that could not be looked at carries its error.
func (s *search) look(ctx context.Context, used *installed, listed github.Listed) *repository {
	if s.known.has(listed) {
		return nil
	}
	has, err := used.github.Holds(ctx, listed.Name, ConfigFile)
	if !has && err == nil {
		s.known.add(listed)
		return nil
	}
	return &repository{
		target: target{name: listed.Name, forge: used.config, rights: rightsOf(used.github.Installation)}, forge: used.forge, err: err,
	}
}

// sum says in a line what was left out.
func (s *search) sum(installations int) {
	if installations == 0 {
		s.note("the App is installed nowhere")
	}
	if s.without > 0 {
		s.note("%d without %s left out", s.without, ConfigFile)
	}
	if s.archived > 0 {
		s.note("%d archived left out", s.archived)
	}
}

func (s *search) note(format string, arguments ...any) {
	s.work.notes = append(s.work.notes, s.of.config.Name+": "+fmt.Sprintf(format, arguments...))
}
