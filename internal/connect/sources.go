package connect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/scm"
)

// Sources asks forges about repositories that a config file or an image names: for
// releases and commits. The credential of the forge is used only if such a repository
// has the same owner as the repository itself; all others are asked without one.
// Otherwise the author of a config file or of an image annotation could read what only
// other users of the same server may see.
type Sources struct {
	session    *Session
	repository *Repository
}

// Sources returns the sources of a repository.
func (s *Session) Sources(r *Repository) Sources { return Sources{s, r} }

// Compare implements scm.Comparer for HOST/OWNER/NAME, and for OWNER/NAME on the forge
// of the repository itself.
func (s Sources) Compare(ctx context.Context, repository, from, to string, limit int) (scm.Comparison, error) {
	f, name := s.repository.Forge, repository
	if host, rest, _ := strings.Cut(repository, "/"); s.session.hasHost(host) {
		f, name = s.session.forgeOn(host, f), rest
	}
	asked, _ := s.authorized(f, name)
	comparer, ok := asked.(scm.Comparer)
	if !ok {
		return scm.Comparison{}, fault.New(fault.NotFound, "comparison in %s: its forge compares no commits", repository)
	}
	return comparer.Compare(ctx, name, from, to, limit)
}

// Releases returns the forge to ask for the releases of FORGE/OWNER/NAME, and the name
// of the repository there.
func (s Sources) Releases(source string) (scm.Releases, string, error) {
	asked, name, authorized, err := s.forge(source)
	if err != nil {
		return nil, "", err
	}
	releases, ok := asked.(scm.Releases)
	if !ok {
		return nil, "", fault.New(fault.Invalid, "select.release: %s: its forge has no releases", source)
	}
	if !authorized {
		releases = publicReleases{releases}
	}
	return releases, name, nil
}

// publicReleases are requested without a credential. An error mentions it.
type publicReleases struct{ asked scm.Releases }

// Releases implements scm.Releases.
func (r publicReleases) Releases(ctx context.Context, repository string, limit int) ([]scm.Release, error) {
	list, err := r.asked.Releases(ctx, repository, limit)
	if err != nil {
		err = fmt.Errorf("%w (asked without a credential, because it has another owner than this repository)", err)
	}
	return list, err
}

// forge finds the forge of a source, by its name in the server file or by its host.
func (s Sources) forge(source string) (asked scm.Forge, name string, authorized bool, err error) {
	first, name, _ := strings.Cut(source, "/")
	f, ok := s.session.forges[first]
	if !ok && s.session.hasHost(first) {
		f, ok = s.session.forgeOn(first, s.repository.Forge), true
	}
	if !ok {
		return nil, "", false, fault.New(fault.NotFound, "%s: no forge of the server file is %s", source, first)
	}
	asked, authorized = s.authorized(f, name)
	return asked, name, authorized, f.Err
}

// authorized returns the forge with its credential if the repository itself is opened
// with that too and has the same owner, else without one. Two entries of the server
// file for one host have two credentials.
func (s Sources) authorized(f *Forge, name string) (asked scm.Forge, authorized bool) {
	own := s.repository
	source := qualifiedName{text: strings.ToLower(f.Host()) + "/" + name, fold: own.name.fold}
	if f.Config.Name == own.Forge.Config.Name && own.name.fold && source.owner() == own.name.owner() {
		return own.Forge.SCM, true
	}
	return f.public, false
}

// SourceHost returns the host of a source FORGE/OWNER/NAME or HOST/OWNER/NAME and the
// name of the repository there. It reports false if no forge is on that host.
func (s *Session) SourceHost(source string) (host, name string, ok bool) {
	first, name, _ := strings.Cut(source, "/")
	if f := s.forges[first]; f != nil {
		return f.Host(), name, true
	}
	return first, name, s.hasHost(first)
}

func (s *Session) hasHost(host string) bool {
	return slices.ContainsFunc(s.Server.Forges(), func(c serverconfig.Forge) bool { return onHost(c, host) })
}

// forgeOn returns the forge on a host; of several the preferred one.
func (s *Session) forgeOn(host string, preferred *Forge) *Forge {
	if onHost(preferred.Config, host) {
		return preferred
	}
	for _, c := range s.Server.Forges() {
		if onHost(c, host) {
			return s.forges[c.Name]
		}
	}
	return preferred
}

// DiscoversOn reports whether the Apps on a host list their repositories themselves.
func (s *Server) DiscoversOn(host string) bool {
	return slices.ContainsFunc(s.Discover, func(c serverconfig.Forge) bool { return onHost(c, host) })
}

func onHost(c serverconfig.Forge, host string) bool {
	return strings.EqualFold(outbound.Host(c.URL), host)
}
