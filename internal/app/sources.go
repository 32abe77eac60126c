package app

import (
	"context"
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
	asked, name, err := s.forge(strings.TrimSuffix(strings.TrimPrefix(repository, "https://"), ".git"))
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
	asked, name, err := s.forge(source)
	if err != nil {
		return nil, "", err
	}
	releases, ok := asked.(scm.Releases)
	if !ok {
		return nil, "", fault.New(fault.Invalid, "select.release: %s: its forge has no releases", source)
	}
	return releases, name, nil
}

// forge finds the forge of a source, with the right to ask it.
func (s sources) forge(source string) (scm.Forge, string, error) {
	first, name, _ := strings.Cut(source, "/")
	f, ok := s.work.forgeNamed(first, s.of.forge)
	if !ok {
		return nil, "", fault.New(fault.NotFound, "%s: no forge of the server's file is %s", source, first)
	}
	if f.err != nil {
		return nil, "", f.err
	}
	if s.sameOwner(f, name) {
		return f.scm, name, nil
	}
	return f.public, name, nil
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
