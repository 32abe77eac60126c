package connect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/connect/rules"
	"promoter/internal/fault"
	"promoter/internal/scm"
)

// Sources asks forges about repositories that a config file or an image names: for
// releases and commits. The credential of a forge is used only for what an entry of
// sources in the server file lets the repository see, and for the repository itself; all
// others are asked without one. Otherwise the author of a config file or of an image
// annotation could read what only other users of the same server may see.
type Sources struct {
	session    *Session
	repository *Repository
}

// Sources returns the sources of a repository.
func (s *Session) Sources(r *Repository) Sources { return Sources{s, r} }

// Releases returns the forge to ask for the releases of FORGE/OWNER/NAME, and the name
// of the repository there.
func (s Sources) Releases(source string) (scm.Releases, string, error) {
	first, name, _ := strings.Cut(source, "/")
	f, ok := s.session.forges[first]
	if !ok && s.session.Server.HasHost(first) {
		f, ok = s.session.forgeOn(first, s.repository.Forge), true
	}
	if !ok {
		return nil, "", fault.New(fault.NotFound, "%s: no forge of the server file is %s", source, first)
	}
	if f.Config.Kind == serverconfig.ForgeGit {
		return nil, "", fault.New(fault.Invalid, "select.release: %s: its forge has no releases", source)
	}
	return sourceReleases{s, f}, name, f.Err
}

// sourceReleases are those of the repositories on a forge that the repository may see.
type sourceReleases struct {
	sources Sources
	forge   *Forge
}

// Releases implements scm.Releases.
func (r sourceReleases) Releases(ctx context.Context, repository string, limit int) ([]scm.Release, error) {
	asked, authorized, err := r.sources.authorized(ctx, r.forge, repository)
	if err != nil {
		return nil, err
	}
	list, err := asked.Releases(ctx, repository, limit)
	return list, r.explained(repository, authorized, err)
}

// Release implements scm.Releases.
func (r sourceReleases) Release(ctx context.Context, repository, tag string) (scm.Release, error) {
	asked, authorized, err := r.sources.authorized(ctx, r.forge, repository)
	if err != nil {
		return scm.Release{}, err
	}
	release, err := asked.Release(ctx, repository, tag)
	return release, r.explained(repository, authorized, err)
}

// explained adds to an error why the forge was asked without a credential.
func (r sourceReleases) explained(repository string, authorized bool, err error) error {
	if err == nil || authorized {
		return err
	}
	return fmt.Errorf("%w (asked without a credential: %s)", err, r.sources.ruleFor(r.forge, repository))
}

// ruleFor describes the rule that would let the repository see a source.
func (s Sources) ruleFor(f *Forge, name string) string {
	if s.session.Server.Standalone {
		return "only a server file can let this repository see " + f.Host() + "/" + name
	}
	return "no entry of sources in the server file lets this repository see " + f.Host() + "/" + name
}

// sourceForge is a forge that can be asked about sources.
type sourceForge interface {
	scm.Comparer
	scm.Releases
}

// authorized returns the forge with a credential if the server file lets the repository see
// the source, or it is the repository itself, else without one. Two entries of the server
// file for one host have two credentials.
func (s Sources) authorized(ctx context.Context, f *Forge, name string) (asked sourceForge, authorized bool, err error) {
	own := s.repository
	source := rules.Name{Text: strings.ToLower(f.Host()) + "/" + name, Fold: own.name.Fold}
	itself := own.name.Fold && f.Config.Name == own.Forge.Config.Name && strings.EqualFold(source.Text, own.name.Text)
	if itself || s.allowed(f, name) {
		with := f
		switch {
		case f.Config.Name == own.Forge.Config.Name && source.Owner() == own.name.Owner():
			with = own.Forge // of its installation, if it is an App
		case f.App != nil:
			i, err := f.App.GitHub.InstallationOf(ctx, name)
			if err == nil {
				with = f.App.use(ctx, i).forge
			} else if fault.KindOf(err) != fault.NotFound {
				return nil, false, err
			}
		}
		if asked, ok := with.SCM.(sourceForge); ok && with.Err == nil {
			return asked, true, nil
		}
	}
	asked, ok := f.public.(sourceForge)
	if !ok {
		return nil, false, cmp.Or(f.Err, fault.New(fault.NotFound, "%s/%s: its forge compares no commits", f.Host(), name))
	}
	return asked, false, nil
}

// allowed reports whether an entry of sources lets the repository see a source.
func (s Sources) allowed(f *Forge, name string) bool {
	source := rules.Name{Text: strings.ToLower(f.Host()) + "/" + name, Fold: true}
	return slices.ContainsFunc(s.session.Server.File.Sources, func(entry serverconfig.Source) bool {
		return source.MatchesAny(entry.Repositories) && s.repository.Matches(entry.UsableBy)
	})
}

// SourceHost returns the host of a source FORGE/OWNER/NAME or HOST/OWNER/NAME and the
// name of the repository there. It reports false if no forge is on that host.
func (s *Session) SourceHost(source string) (host, name string, ok bool) {
	first, name, _ := strings.Cut(source, "/")
	if f := s.forges[first]; f != nil {
		return f.Host(), name, true
	}
	return first, name, s.Server.HasHost(first)
}

// forgeOn returns the forge on a host; of several the preferred one.
func (s *Session) forgeOn(host string, preferred *Forge) *Forge {
	if preferred.Config.IsOn(host) {
		return preferred
	}
	for _, c := range s.Server.Forges() {
		if c.IsOn(host) {
			return s.forges[c.Name]
		}
	}
	return preferred
}
