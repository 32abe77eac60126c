package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"promoter/internal/config"
	"promoter/internal/engine"
	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/scan"
)

// ours is who our commits are by. It must not change: a branch that others worked
// on is told from our own by it.
func ours() engine.Signature {
	return engine.Signature{Name: "promoter", Email: "promoter@noreply.invalid"}
}

// lane is the lane of one repository with its mirror open.
type lane struct {
	engine.Reconciler
	objects gitObjects
	mirror  *git.Mirror
	known   *scan.Cache
	work    *work
	of      *repository
}

// lane opens the mirror of a repository and wires its lane. The caller closes the
// mirror.
func (w *work) lane(ctx context.Context, r *repository) (*lane, error) {
	if r.err != nil {
		return nil, r.err
	}
	info := r.scm.Info()
	folder := w.mirrorFolder(string(info.Key))
	mirror, err := git.Open(ctx, folder, git.Options{
		Remote:      w.remote(r.forge, info),
		BlobLimit:   w.server.file.Sizes.File,
		PackLimit:   w.server.file.Sizes.Pack,
		ObjectLimit: w.server.file.Sizes.Object,
	})
	if err != nil {
		return nil, err
	}
	objects := gitObjects{&gitRemote{mirror: mirror}}
	from, asked := sources{work: w, of: r}, w.newMoments(info.Key)
	known := scan.NewCache(filepath.Join(folder, "scan"))
	l := &lane{objects: objects, mirror: mirror, known: known, work: w, of: r, Reconciler: engine.Reconciler{
		Remote:  objects.gitRemote,
		Objects: objects,
		Files:   gitFiles{objects: objects, maxSize: w.server.file.Sizes.File, cache: known},
		Registries: laneVersions{
			versions: w.pass.For(info.Key), key: info.Key, check: w.check, releases: from.releases, moments: asked, now: w.server.now,
		},
		Repository:  r.scm,
		Limits:      w.server.caps(r.named),
		Permissions: w.server.commanders(r.scm, r.named),
		By:          ours(),
		Now:         w.server.now,
		Pause:       pause,
		Log:         slog.New(slog.DiscardHandler),
	}}
	l.Refresh = w.refresher(ctx, asked)
	if r.scm.Features().Compare {
		l.Compare = from
	}
	return l, nil
}

// mirrorFolder is where the mirror of a repository lies. Its name tells nothing,
// because keys hold characters that no folder may have everywhere.
func (w *work) mirrorFolder(key string) string {
	sum := sha256.Sum256([]byte(key))
	root := w.dir
	if w.cache != "" {
		root = w.cache
	}
	return filepath.Join(root, "mirrors", hex.EncodeToString(sum[:16]))
}

// The pause before a pass begins anew, which doubles with each attempt, with
// jitter of the same size.
const (
	firstPause = 200 * time.Millisecond
	maxPause   = 5 * time.Second
)

func pause(ctx context.Context, attempt int) error {
	wait := min(firstPause<<min(attempt, 8), maxPause)
	timer := time.NewTimer(wait + rand.N(wait))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// config loads the config of the repository from its default branch, of which it
// returns the name too.
func (l *lane) config(ctx context.Context, refs engine.Refs) (*config.Config, string, error) {
	byDefault := cmp.Or(refs.Default, l.Repository.Info().DefaultBranch)
	if refs.Branches[byDefault] == "" {
		return nil, "", fault.New(fault.NotFound, "the repository has no default branch yet: push %s to it", ConfigFile)
	}
	heads, err := l.Remote.Fetch(ctx, byDefault)
	if err != nil {
		return nil, "", err
	}
	loaded, state, err := l.LoadConfig(heads[byDefault], byDefault)
	if state != "" {
		err = fault.New(fault.Invalid, "%s", state)
	}
	return loaded, byDefault, err
}

// with opens the lane of a repository for one piece of work.
// Also a defect that ends it lets go of the mirror, for which the next one would wait.
func (w *work) with(ctx context.Context, r *repository, do func(*lane) error) (err error) {
	l, err := w.lane(ctx, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.mirror.Close()) }()
	err = do(l)
	if w.cache != "" {
		err = errors.Join(err, l.known.Save())
	}
	return err
}

// survive is with, and a defect is the failure of this repository alone.
func (w *work) survive(ctx context.Context, r *repository, do func(*lane) error) (err error) {
	defer fault.Survive(&err)
	return w.with(ctx, r, do)
}

// each works on all repositories, a few at a time. None stops another.
func (w *work) each(do func(*repository)) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, r := range w.repositories {
		group.Go(func() error {
			do(r)
			return nil
		})
	}
	_ = group.Wait() // no function of the group fails
}
