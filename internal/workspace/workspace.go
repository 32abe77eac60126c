// Package workspace opens a repository for its reconciliation: its mirror on disk, the scans of
// its files, and the registries with its permissions, wired as a reconcile.Reconciler.
package workspace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"iter"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"promoter/internal/budget"
	"promoter/internal/comments"
	"promoter/internal/config"
	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect"
	"promoter/internal/connect/rules"
	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/git/object"
	"promoter/internal/image"
	"promoter/internal/kept"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/describe"
	"promoter/internal/reconcile/observe"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
	"promoter/internal/scan"
	"promoter/internal/serverfile"
	"promoter/internal/statebranch"
	"promoter/internal/store"
	"promoter/internal/updater"
)

// Options configure a workspace.
type Options struct {
	DryRun    bool
	Log       *slog.Logger   // nil: nothing is logged
	Trace     outcome.Tracer // nil: nothing is traced
	Freshness *store.Store   // nil: answers of registries are valid for the session
	// Kept is what earlier reconciliations of the process left.
	Kept Kept
	// Seals remembers the newest seal of the repository, besides a file beside the mirror.
	// Nil: nothing else does.
	Seals statebranch.SealMemory
}

// Kept is what a process keeps in memory from one workspace to the next, of all repositories.
type Kept struct {
	// Scans remembers what was found in the files of repositories. Nil: each workspace reads it from
	// disk, or scans all files.
	Scans *scan.Memory
	// Mirrors keeps what mirrors read of their files. Nil: each workspace reads it again.
	Mirrors *git.Memory
	// Comments remembers which commands comments have. Nil: each workspace parses them again.
	Comments *comments.Parsed
	// Decisions keeps the last decisions of repositories, so that a reconciliation decides only about what
	// an event touches. It needs Freshness. Nil: each one decides about everything.
	Decisions *Decisions
}

// Workspace is a repository that is open, with its mirror.
type Workspace struct {
	Reconciler reconcile.Reconciler
	Repository *connect.Repository

	mirror  *mirror
	scans   *scan.Cache
	keep    bool // scans for the next session
	dryRun  bool
	folder  string // of all mirrors
	maxSize int64  // of all mirrors, in bytes
	disk    *git.Disk
	log     *slog.Logger
}

// Author returns the author and committer of all commits to a repository: that of the
// server file, or of the forge. GitHub signs commits of the App alone.
func Author(server *serverfile.Server, r *connect.Repository) repo.Signature {
	if by := r.SCM.Info().Committer; by.Name != "" && server.SignsAsApp(r.Forge.Config) {
		return repo.Signature{Name: by.Name, Email: by.Email}
	}
	if by := server.File.Committer; by.Name != "" {
		return repo.Signature{Name: by.Name, Email: by.Email}
	}
	if by := r.SCM.Info().Committer; by.Name != "" {
		return repo.Signature{Name: by.Name, Email: by.Email}
	}
	return repo.DefaultSignature()
}

// Open opens a repository of a session. The caller closes the workspace: until then, no
// other one can open the same mirror.
func Open(ctx context.Context, session *connect.Session, r *connect.Repository, options Options) (*Workspace, error) {
	if r.Err != nil {
		return nil, r.Err
	}
	server, key := session.Server, r.Key()
	log := options.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	folder := mirrorFolder(session, string(key))
	opened, err := git.Open(ctx, folder, git.Options{
		Remote:      session.Remote(r),
		BlobLimit:   server.File.Sizes.File,
		PackLimit:   server.File.Sizes.Pack,
		ObjectLimit: server.File.Sizes.Object,
		DiskLimit:   server.File.Sizes.Mirror,
		Memory:      options.Kept.Mirrors,
	})
	if err != nil {
		return nil, err
	}
	mirror := &mirror{git: opened, sign: signer(session, r)}
	file := options.Kept.Decisions.file(string(key), filepath.Join(folder, keptFile))
	scans := scan.NewCache(file, options.Kept.Scans)
	sources := session.Sources(r)
	fresh := &freshness{server: server, store: options.Freshness, key: key}
	if session.Kept() {
		fresh.kept = session.Began()
	}
	known := versions{
		registry: session.Registry(key), key: key, check: session.CheckCredential,
		releases: sources.Releases, fresh: fresh, now: server.Now,
	}
	w := &Workspace{
		Repository: r,
		mirror:     mirror,
		scans:      scans,
		keep:       session.Kept(),
		dryRun:     options.DryRun,
		folder:     filepath.Dir(folder),
		maxSize:    server.File.Sizes.Mirrors,
		disk:       session.Disk(),
		log:        log,
	}
	w.Reconciler = reconcile.Reconciler{
		Clients: observe.Clients{
			Remote: mirror, Objects: mirror, Files: files{mirror: mirror, maxSize: server.File.Sizes.File, cache: scans},
			Forge: r.SCM, Registries: known,
			Seals:    seals(session, r, file, options.Seals),
			ReadOnly: options.DryRun, Damage: mirror.damage,
			Branches: &branchMemory{file: file},
			Landings: landingMemory{file},
			By:       Author(server, r), Now: server.Now, Pause: pause, Log: log,
		},
		Users: observe.Users{
			Permissions: rules.Permissions(server.File, r.SCM),
			Bypasses:    rules.Bypasses(server.File, r.SCM),

			ParsedComments: options.Kept.Comments,
			Refresh: func(c *config.Config) {
				session.ForgetAnswers(func(asked image.Repository) bool {
					return slices.ContainsFunc(c.Components, func(one config.Component) bool { return one.Pattern.Match(asked) })
				})
				if err := fresh.refresh(ctx); err != nil {
					log.WarnContext(ctx, "registry data not marked as stale", slog.String("key", string(key)), slog.Any("error", err))
				}
			},
		},
		Server:     observe.Server{Limits: rules.Limits(server.File, r.SCM), Verify: server.Verify(r.Matches)},
		Describe:   describe.Readers{Images: known, Renderer: rendererOf(session, r, mirror, file)},
		ForgeReads: forgeReads,
		Trace:      options.Trace,
	}
	if r.SCM.Features().Compare {
		w.Reconciler.Describe.Sources = sources
	}
	if options.Kept.Decisions != nil && options.Freshness != nil && server.File.Incremental {
		w.Reconciler.Cache = decisionCache{all: options.Kept.Decisions, key: string(key), session: session, fresh: fresh, file: file}
	}
	return w, nil
}

// Reconcile reconciles the repository, or rehearses that if it was opened for a dry run.
func (w *Workspace) Reconcile(ctx context.Context) (outcome.Report, error) {
	if w.dryRun {
		return w.Reconciler.Rehearse(ctx)
	}
	return w.Reconciler.Reconcile(ctx)
}

// Close remembers and saves the scans, if they are kept, and closes the mirror. If it has grown, others
// are emptied that do not fit beside it.
func (w *Workspace) Close() error {
	var err error
	if w.keep {
		err = w.scans.Save()
	}
	w.scans.Keep() // as they were saved
	err = errors.Join(err, w.mirror.git.Close())
	if grown := w.mirror.git.Grown(); grown > 0 && w.maxSize > 0 {
		w.emptyOthers(grown)
	}
	return err
}

// emptyOthers empties the mirrors that were not used for the longest time if all of them
// are over their limit. They are fetched again when they are needed.
func (w *Workspace) emptyOthers(grown int64) {
	emptied, err := w.disk.Grow(w.folder, grown, w.maxSize, forgetScans)
	for _, one := range emptied {
		w.log.Warn("mirror emptied: all mirrors need more than sizes.mirrors",
			slog.String("url", one.URL), slog.Int64("bytes", one.Size), slog.Int64("limit", w.maxSize))
	}
	if err != nil {
		w.log.Warn("mirrors not emptied", slog.Any("error", err))
	}
}

// forgetScans removes the scans of files beside a mirror that is emptied.
func forgetScans(folder string) error {
	return scan.Forget(kept.At(filepath.Join(folder, keptFile)))
}

// Use opens a repository for one function, whose context has the budget of one
// reconciliation. If it fails because the mirror is damaged, the mirror is fetched again, and the function is called once more.
func Use(
	ctx context.Context, session *connect.Session, r *connect.Repository, options Options, do func(context.Context, *Workspace) error,
) error {
	damage, err := useOnce(ctx, session, r, options, do)
	if err == nil || damage == nil {
		return err
	}
	if options.Log != nil {
		options.Log.WarnContext(ctx, "mirror damaged; it is fetched again", slog.String("repository", r.Name), slog.Any("error", damage))
	}
	_, err = useOnce(ctx, session, r, options, do)
	return err
}

// useOnce is Use, and returns how the mirror is damaged. A panic closes the repository too, because the next one to open it
// waits for that.
func useOnce(
	ctx context.Context, session *connect.Session, r *connect.Repository, options Options, do func(context.Context, *Workspace) error,
) (damage, err error) {
	w, err := Open(ctx, session, r, options)
	if err != nil {
		return nil, err
	}
	defer func() {
		damage = w.mirror.damage()
		err = errors.Join(err, w.Close())
	}()
	timeout := cmp.Or(session.Server.File.Timeout, serverconfig.DefaultTimeout)
	bounded, stop := budget.WithTimeout(ctx, budget.New(budget.Defaults()), timeout)
	defer stop()
	return nil, budget.Cause(bounded, do(bounded, w))
}

// Try is Use, and returns a panic as an error, so that it affects no other repository.
func Try(
	ctx context.Context, session *connect.Session, r *connect.Repository, options Options, do func(context.Context, *Workspace) error,
) (err error) {
	defer fault.Survive(&err)
	return Use(ctx, session, r, options, do)
}

// Remove deletes the mirror of a repository that is no longer worked on.
func Remove(ctx context.Context, session *connect.Session, key string) error {
	return git.Remove(ctx, mirrorFolder(session, key))
}

// mirrorFolder returns the folder of the mirror of a repository. Its name is a hash,
// because keys have characters that are not valid in names of folders.
func mirrorFolder(session *connect.Session, key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(session.Folder(), "mirrors", hex.EncodeToString(sum[:16]))
}

// forgeReads is how many requests that only read a reconciliation sends to its forge at the
// same time. GitHub asks for few of them, and refuses more than 100 of one account.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
const forgeReads = 4

// The wait before a reconciliation restarts. It doubles with each attempt, with jitter
// of the same size.
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

// Config loads the config file from the default branch, and returns the name of that
// branch too.
func (w *Workspace) Config(ctx context.Context) (loaded *config.Config, branch string, err error) {
	branch, commit, err := w.Default(ctx)
	if err != nil {
		return nil, "", err
	}
	loaded, err = repo.LoadConfig(w.Reconciler.Clients.Objects, commit, branch, nil)
	return loaded, branch, err
}

// Default fetches the default branch, and returns its name and its commit.
func (w *Workspace) Default(ctx context.Context) (branch, commit string, err error) {
	refs, err := w.mirror.Refs(ctx)
	if err != nil {
		return "", "", w.Repository.Advise(err)
	}
	branch = cmp.Or(refs.Default, w.Repository.SCM.Info().DefaultBranch)
	if refs.Branches[branch] == "" {
		return "", "", fault.New(fault.NotFound, "the repository has no default branch yet: push %s to it", config.FileName)
	}
	heads, err := w.mirror.Fetch(ctx, branch)
	return branch, heads[branch], err
}

// Files returns all files of a commit that was fetched, to be scanned.
func (w *Workspace) Files(ctx context.Context, commit string) (iter.Seq2[updater.File, error], error) {
	entries, err := w.mirror.List(ctx, commit)
	if err != nil {
		return nil, err
	}
	return func(yield func(updater.File, error) bool) {
		for _, entry := range entries {
			file := scan.GitFile(entry, func() ([]byte, error) { return w.mirror.Content(entry, scan.ReadLimit) })
			if !yield(file, nil) {
				return
			}
		}
	}, nil
}

// List returns all files of a commit that was fetched.
func (w *Workspace) List(ctx context.Context, commit string) ([]object.Entry, error) {
	return w.mirror.List(ctx, commit)
}
