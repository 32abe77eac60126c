package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect/rules"
	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/git/signing"
	"promoter/internal/identity"
	"promoter/internal/memory"
	"promoter/internal/registry"
	"promoter/internal/rendered"
	"promoter/internal/scm"
	"promoter/internal/seal"
	"promoter/internal/secret"
	"promoter/internal/serverfile"
)

// Parallel is how many repositories are opened or reconciled at once.
const Parallel = 4

// Session is one refresh of forges and repositories. Answers of registries that can
// change are cached for its lifetime and shared by all its repositories.
type Session struct {
	Server       *serverfile.Server
	Repositories []*Repository
	Unconfigured []Unconfigured // that Apps list and that have no config file
	Notes        []string       // what was left out, and why

	began       time.Time
	connections *Connections
	dir         string // removed by Close
	cache       string // kept; empty: dir is used
	forges      map[string]*Forge
	registries  *registry.Client
	answers     *registry.Batch
	broken      []brokenCredential
}

// Seals returns what decides which commits of promoter/_state count in a repository, and
// whether that branch needs none, because only promoter may push it.
func (s *Session) Seals(r *Repository) (keys seal.Keys, protected bool) {
	return s.connections.seals.Value(), r.Matches(s.Server.File.Seal.Protected)
}

// SigningKey returns the key that signs commits; zero: there is none.
func (s *Session) SigningKey() signing.Key { return s.connections.signing.Value() }

// Renderings renders manifests, for all sessions. It keeps what it rendered: each reconciliation compares the
// text of all open pull requests, and would otherwise start a process for each.
func (s *Session) Renderings() *rendered.Pool { return s.connections.renderings }

// Disk limits the mirrors in Folder, for all sessions.
func (s *Session) Disk() *git.Disk { return &s.connections.disk }

// Repository is one repository of a session.
type Repository struct {
	Name  string // as it was listed or found
	Forge *Forge
	SCM   scm.Repository // nil if it was never opened
	Err   error          // why it could not be opened

	credential string // that it is opened with, in words; empty: none
	name       rules.Name
}

// userTokenVariable holds the token of the user of a command, whose account is only asked for.
const userTokenVariable = "PROMOTER_USER_TOKEN"

// User returns the account of the user of a command: that of PROMOTER_USER_TOKEN, or that of
// the credential of a user without a server file. The credential of a server file is
// promoter's own. It may be an account that is no user's, or none.
func (s *Session) User(ctx context.Context, r *Repository) (identity.User, error) {
	text, set := s.Server.Env(userTokenVariable)
	if !set || text == "" || r.Forge.Config.Kind == serverconfig.ForgeGit {
		if s.Server.Standalone {
			return r.SCM.Info().Self, nil
		}
		return identity.User{}, nil
	}
	forge, err := s.connections.openForge(r.Forge.Config, secret.New(text))
	if err != nil {
		return identity.User{}, fmt.Errorf("%s: %w", userTokenVariable, err)
	}
	repository, err := forge.Open(ctx, r.SCM.Info().Name)
	if err != nil {
		return identity.User{}, fmt.Errorf("%s: %w", userTokenVariable, err)
	}
	self := repository.Info().Self
	if !self.Verified() {
		return identity.User{}, fault.New(fault.Invalid, "%s belongs to %s, which is not the account of a user",
			userTokenVariable, cmp.Or(self.Login, "no account"))
	}
	return self, nil
}

// Open wires the forges and registries and opens all repositories. A repository that
// cannot be opened has its error. What outlives the session is kept in the cache
// folder; nothing is kept if it is empty. The caller closes the session.
func (c *Connections) Open(ctx context.Context, cache string) (_ *Session, err error) {
	s := &Session{Server: c.Server, began: c.Server.Now(), connections: c, cache: cache}
	if s.dir, err = os.MkdirTemp("", "promoter-"); err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
	}()
	s.forges = map[string]*Forge{}
	for _, forge := range c.Server.Forges() {
		if s.forges[forge.Name] == nil {
			s.forges[forge.Name] = c.wireForge(forge, s.dir)
		}
	}
	c.forges.replace(s.forges)

	for _, t := range c.Server.Targets {
		s.Repositories = append(s.Repositories, &Repository{Name: t.Name, Forge: s.forges[t.Forge.Name], credential: t.Credential})
	}
	s.discover(ctx)
	s.Each(func(r *Repository) { r.open(ctx) })
	s.noteClockSkew()
	return s, s.wireRegistries()
}

// Close flushes the registry cache and removes what is not kept.
func (s *Session) Close() error {
	var flushed error
	if s.cache != "" {
		flushed = s.registries.Close()
	}
	return errors.Join(flushed, os.RemoveAll(s.dir))
}

// With opens other repositories on the forges of the session. Close is called on s
// alone, when both are no longer used.
func (s *Session) With(ctx context.Context, repositories []*Repository) (*Session, error) {
	other := *s
	other.Repositories = repositories
	other.Unconfigured = nil
	other.Notes = nil
	other.broken = nil
	other.Each(func(r *Repository) { r.open(ctx) })
	return &other, other.wireRegistries() // which repository may use a credential depends on its name
}

// Each calls a function for all repositories, a few at a time.
func (s *Session) Each(do func(*Repository)) {
	var group errgroup.Group
	group.SetLimit(memory.Parallel(Parallel))
	for _, r := range s.Repositories {
		group.Go(func() error {
			do(r)
			return nil
		})
	}
	_ = group.Wait() // no function of the group fails
}

// Folder is where files of repositories are kept: mirrors, and what was found in them.
// Unless Kept, Close removes it.
func (s *Session) Folder() string {
	if s.cache != "" {
		return s.cache
	}
	return s.dir
}

// Kept reports whether Folder outlives the session.
func (s *Session) Kept() bool { return s.cache != "" }

// Began returns when the session was opened.
func (s *Session) Began() time.Time { return s.began }

// CacheFolder returns a folder that outlives the session; empty if nothing is kept.
func (s *Session) CacheFolder(name string) string {
	if s.cache == "" {
		return ""
	}
	return filepath.Join(s.cache, name)
}

// Forge returns a forge by its name in the server file; nil if there is none.
func (s *Session) Forge(name string) *Forge { return s.forges[name] }

// Reopen opens a repository that is open again, so that what is cached of it is not older than
// one reconciliation. If that fails, it has the error, and is still what was open.
func (r *Repository) Reopen(ctx context.Context) *Repository {
	fresh := &Repository{Name: r.Name, Forge: r.Forge, SCM: r.SCM, credential: r.credential, name: r.name}
	fresh.open(ctx)
	return fresh
}

func (r *Repository) open(ctx context.Context) {
	if r.Err != nil {
		return // it is only known to exist
	}
	if r.Err = r.Forge.Err; r.Err != nil {
		return
	}
	if app := r.Forge.App; app != nil {
		i, err := app.GitHub.InstallationOf(ctx, r.Name)
		if err != nil {
			r.Err = err
			return
		}
		r.credential, r.Forge = installationCredential(i), app.use(ctx, i).forge
		if r.Err = r.Forge.Err; r.Err != nil {
			return
		}
	}
	opened, err := r.Forge.SCM.Open(ctx, r.Name)
	if err != nil {
		r.Err = r.Advise(err)
		return
	}
	r.SCM, r.name = opened, rules.NameOf(opened.Info())
}

// Key returns the key of a repository that is open.
func (r *Repository) Key() identity.RepositoryKey { return r.SCM.Info().Key }

// Address returns HOST/OWNER/NAME in lower case, as it was listed.
func (r *Repository) Address() string { return r.Forge.Config.Address(r.Name) }

// IsNamed reports whether a text names the repository: see identity.RepositoryKey.IsNamed.
func (r *Repository) IsNamed(text string) bool { return r.Key().IsNamed(r.Address(), text) }

// Matches reports whether one of the globs of the server file names the repository.
func (r *Repository) Matches(globs []string) bool { return r.name.MatchesAny(globs) }

// Tenant returns HOST/OWNER, whose repositories share the workers with those of others.
func (r *Repository) Tenant() string { return r.name.Tenant() }

// Advise adds to an error about the repository which credential to check.
func (r *Repository) Advise(err error) error {
	switch kind := fault.KindOf(err); {
	case r.credential == "":
		return err
	case kind == fault.NotFound:
		return fmt.Errorf("%w: it does not exist, or %s may not see it", err, r.credential)
	case kind == fault.Unauthorized:
		return fmt.Errorf("%w: check %s", err, r.credential)
	default:
		return err
	}
}
