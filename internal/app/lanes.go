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

	"promoter/internal/config"
	"promoter/internal/connect"
	"promoter/internal/engine"
	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/scan"
	"promoter/internal/store"
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
	session *connect.Session
	of      *connect.Repository
}

// laneSetup are what a lane has in a service.
type laneSetup struct {
	store *store.Store // nil: there is none
	log   *slog.Logger
}

// newLane opens the mirror of a repository and wires its lane. The caller closes the
// mirror.
func newLane(ctx context.Context, session *connect.Session, r *connect.Repository, options laneSetup) (*lane, error) {
	if r.Err != nil {
		return nil, r.Err
	}
	server, key := session.Server, r.Key()
	folder := mirrorFolder(session, string(key))
	mirror, err := git.Open(ctx, folder, git.Options{
		Remote:      session.Remote(r),
		BlobLimit:   server.File.Sizes.File,
		PackLimit:   server.File.Sizes.Pack,
		ObjectLimit: server.File.Sizes.Object,
	})
	if err != nil {
		return nil, err
	}
	objects := gitObjects{&gitRemote{mirror: mirror}}
	from, asked := session.Sources(r), newMoments(server.File, options.store, key)
	known := scan.NewCache(filepath.Join(folder, "scan"))
	l := &lane{objects: objects, mirror: mirror, known: known, session: session, of: r, Reconciler: engine.Reconciler{
		Remote:  objects.gitRemote,
		Objects: objects,
		Files:   gitFiles{objects: objects, maxSize: server.File.Sizes.File, cache: known},
		Registries: laneVersions{
			versions: session.Registry(key), key: key, check: session.CheckCredential, releases: from.Releases, moments: asked, now: server.Now,
		},
		Repository:  r.SCM,
		Limits:      server.Limits(r),
		Permissions: server.Permissions(r),
		By:          ours(),
		Now:         server.Now,
		Pause:       pause,
		Log:         slog.New(slog.DiscardHandler),
	}}
	l.Refresh = refresher(ctx, session, asked, options.log)
	if r.SCM.Features().Compare {
		l.Compare = from
	}
	return l, nil
}

// mirrorFolder is where the mirror of a repository lies. Its name tells nothing,
// because keys hold characters that no folder may have everywhere.
func mirrorFolder(session *connect.Session, key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(session.Folder(), "mirrors", hex.EncodeToString(sum[:16]))
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

// withLane opens the lane of a repository for one piece of work.
// Also a defect that ends it lets go of the mirror, for which the next one would wait.
func withLane(ctx context.Context, session *connect.Session, r *connect.Repository, options laneSetup, do func(*lane) error) (err error) {
	l, err := newLane(ctx, session, r, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.mirror.Close()) }()
	err = do(l)
	if session.Kept() {
		err = errors.Join(err, l.known.Save())
	}
	return err
}

// tryLane is withLane, and a defect is the failure of this repository alone.
func tryLane(ctx context.Context, session *connect.Session, r *connect.Repository, options laneSetup, do func(*lane) error) (err error) {
	defer fault.Survive(&err)
	return withLane(ctx, session, r, options, do)
}
