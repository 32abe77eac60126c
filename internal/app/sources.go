package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/scm"
)

// sources asks forges about repositories that a config file or an image names:
// for releases and for commits. The forge's own right is used only where such a
// repository has the same owner as the one of the lane; all others are asked
// without a credential. Whoever writes a config file, or an annotation of an
// image, could otherwise read what only others of the same server may see.
type sources struct {
	work *work
	of   *repository
}

// Compare implements scm.Comparer for HOST/OWNER/NAME, and for OWNER/NAME on the
// forge of the repository itself.
func (s sources) Compare(ctx context.Context, repository, from, to string, limit int) (scm.Comparison, error) {
	f, name := s.of.forge, repository
	if host, rest, _ := strings.Cut(repository, "/"); s.work.hasHost(host) {
		f, name = s.work.forgeOn(host, f), rest
	}
	asked, _ := s.right(f, name)
	comparer, ok := asked.(scm.Comparer)
	if !ok {
		return scm.Comparison{}, fault.New(fault.NotFound, "comparison in %s: its forge compares no commits", repository)
	}
	return comparer.Compare(ctx, name, from, to, limit)
}

// releases finds who to ask for the releases of FORGE/OWNER/NAME.
func (s sources) releases(source string) (scm.Releases, string, error) {
	asked, name, own, err := s.forge(source)
	if err != nil {
		return nil, "", err
	}
	releases, ok := asked.(scm.Releases)
	if !ok {
		return nil, "", fault.New(fault.Invalid, "select.release: %s: its forge has no releases", source)
	}
	if !own {
		releases = stranger{releases}
	}
	return releases, name, nil
}

// stranger asks without a credential, and says so where that is not enough.
type stranger struct{ asked scm.Releases }

// Releases implements scm.Releases.
func (s stranger) Releases(ctx context.Context, repository string, limit int) ([]scm.Release, error) {
	list, err := s.asked.Releases(ctx, repository, limit)
	if err != nil {
		err = fmt.Errorf("%w (asked without a credential, because it has another owner than this repository)", err)
	}
	return list, err
}

// forge finds the forge of a source, by its name in the file or by its host, with
// the right to ask it.
func (s sources) forge(source string) (asked scm.Forge, name string, own bool, err error) {
	first, name, _ := strings.Cut(source, "/")
	f, ok := s.work.forges[first]
	if !ok && s.work.hasHost(first) {
		f, ok = s.work.forgeOn(first, s.of.forge), true
	}
	if !ok {
		return nil, "", false, fault.New(fault.NotFound, "%s: no forge of the server's file is %s", source, first)
	}
	asked, own = s.right(f, name)
	return asked, name, own, f.err
}

// right returns what a repository of a forge is asked with: the forge's own right
// where the repository of the lane is opened with that too and belongs to the same
// owner, else none. Two entries for one host have two rights.
func (s sources) right(f *forge, name string) (asked scm.Forge, own bool) {
	source := qualified{text: strings.ToLower(hostOf(f.config.URL)) + "/" + name, fold: s.of.named.fold}
	if f.config.Name == s.of.forge.config.Name && s.of.named.fold && source.owner() == s.of.named.owner() {
		return s.of.forge.scm, true
	}
	return f.public, false
}

// hasHost says whether a forge is on a host.
func (w *work) hasHost(host string) bool {
	return slices.ContainsFunc(w.server.allForges(), func(c config.Forge) bool { return onHost(c, host) })
}

// forgeOn returns the forge on a host; of several the preferred one.
func (w *work) forgeOn(host string, preferred *forge) *forge {
	if onHost(preferred.config, host) {
		return preferred
	}
	for _, c := range w.server.allForges() {
		if onHost(c, host) {
			return w.forges[c.Name]
		}
	}
	return preferred
}

func onHost(c config.Forge, host string) bool { return strings.EqualFold(hostOf(c.URL), host) }
