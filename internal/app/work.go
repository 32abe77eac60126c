package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"golang.org/x/sync/errgroup"

	"promoter/internal/fault"
	"promoter/internal/registry"
	"promoter/internal/scm"
	"promoter/internal/store"
)

// work is one round of work on the repositories of a server. What can change is
// asked once in it and shared by all of them.
type work struct {
	server *Server
	dir    string // of this round alone, removed at its end
	cache  string // kept between rounds; empty: dir is used
	ways   ways
	forges map[string]*forge

	repositories []*repository
	registries   *registry.Client
	pass         *registry.Batch
	broken       []brokenCredential
	notes        []string    // what was left out, and why
	onboarding   *onboarding // nil: no repository is offered a config file

	store *store.Store // of a service; nil: there is none
	log   *slog.Logger // of a service
}

// repository is one repository of the round.
type repository struct {
	target
	forge *forge
	scm   scm.Repository // nil: it could not be opened
	named qualified
	err   error
}

// atOnce is how many repositories are worked on side by side.
const atOnce = 4

// begin opens the repositories and wires what they share. A repository that
// cannot be opened carries its error. The caller closes the work.
func (s *Server) begin(ctx context.Context, cache string) (_ *work, err error) {
	w := &work{server: s, cache: cache}
	if w.dir, err = os.MkdirTemp("", "promoter-"); err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(w.dir))
		}
	}()
	if w.ways, err = s.newWays(); err != nil {
		return nil, err
	}
	w.wireForges()
	w.onboarding = w.newOnboarding()
	w.open(ctx)
	return w, w.wireRegistries()
}

// close keeps what was learnt for the next round, if there is a place for it, and
// removes the rest.
func (w *work) close() error {
	var flushed error
	if w.cache != "" {
		flushed = w.registries.Flush()
	}
	return errors.Join(flushed, os.RemoveAll(w.dir))
}

// open asks the forges for all repositories, a few at a time.
func (w *work) open(ctx context.Context) {
	for _, t := range w.server.targets {
		w.repositories = append(w.repositories, &repository{target: t, forge: w.forges[t.forge.Name]})
	}
	w.discover(ctx)
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, r := range w.repositories {
		group.Go(func() error {
			r.open(ctx)
			return nil
		})
	}
	_ = group.Wait() // no function of the group fails
	w.noteClocks()
}

func (r *repository) open(ctx context.Context) {
	if r.err != nil {
		return // it was found, and nothing else
	}
	if r.err = r.forge.err; r.err != nil {
		return
	}
	if r.forge.app != nil {
		if r.err = r.install(ctx); r.err != nil {
			return
		}
	}
	opened, err := r.forge.scm.Open(ctx, r.name)
	if err != nil {
		r.err = advised(err, r)
		return
	}
	r.scm, r.named = opened, qualify(opened.Info())
}

// advised says what to do about a repository that could not be looked at.
func advised(err error, r *repository) error {
	switch kind := fault.KindOf(err); {
	case r.rights == "":
		return err
	case kind == fault.NotFound:
		return fmt.Errorf("%w: it is not there, or %s may not see it", err, r.rights)
	case kind == fault.Unauthorized:
		return fmt.Errorf("%w: check %s", err, r.rights)
	default:
		return err
	}
}
