package app

import (
	"context"
	"fmt"
	"strings"

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

// Compare implements scm.Comparer for HOST/OWNER/NAME, or a URL of that.
func (s sources) Compare(ctx context.Context, repository, from, to string, limit int) (scm.Comparison, error) {
	asked, name, _, err := s.forge(strings.TrimSuffix(strings.TrimPrefix(repository, "https://"), ".git"))
	if err != nil {
		return scm.Comparison{}, err
	}
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

// forge finds the forge of a source, with the right to ask it: its own or none.
func (s sources) forge(source string) (asked scm.Forge, name string, own bool, err error) {
	first, name, _ := strings.Cut(source, "/")
	f, ok := s.work.forgeNamed(first, s.of.forge)
	switch {
	case !ok:
		return nil, "", false, fault.New(fault.NotFound, "%s: no forge of the server's file is %s", source, first)
	case f.err != nil:
		return nil, "", false, f.err
	case s.sameOwner(f, name):
		return f.scm, name, true, nil
	}
	return f.public, name, false, nil
}

// sameOwner says whether a repository of a forge belongs to whom the repository
// of the lane belongs to.
func (s sources) sameOwner(f *forge, name string) bool {
	source := qualified{text: strings.ToLower(hostOf(f.config.URL)) + "/" + name, fold: s.of.named.fold}
	return s.of.named.fold && source.owner() == s.of.named.owner()
}

// forgeNamed finds a forge by its name in the file or by its host; of several on
// one host the preferred one.
func (w *work) forgeNamed(name string, preferred *forge) (*forge, bool) {
	if f, ok := w.forges[name]; ok {
		return f, true
	}
	if strings.EqualFold(hostOf(preferred.config.URL), name) {
		return preferred, true
	}
	for _, c := range w.server.allForges() {
		if strings.EqualFold(hostOf(c.URL), name) {
			return w.forges[c.Name], true
		}
	}
	return nil, false
}
