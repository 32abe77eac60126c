package connect

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	serverconfig "promoter/internal/config/server"
	"promoter/internal/fault"
	"promoter/internal/outbound"
	"promoter/internal/scm"
)

// Change implements describe.Sources. An error may go away soon. All else that keeps the
// commits unknown is in the result: it is shown.
//
// A source that only an image names is always asked without a credential, also if the server
// file has an entry for it: else the author of an image could show commits that only others
// may see.
func (s Sources) Change(ctx context.Context, q scm.ChangeQuery) (scm.Change, error) {
	source, ok := scm.ParseSource(q.Source)
	if !ok {
		return scm.Change{Unread: "the source " + q.Source + " is not the address of a repository"}, nil
	}
	change := scm.Change{Source: source.String()}
	wanted := q.From != "" && q.To != ""
	for _, revision := range []string{q.From, q.To} {
		if wanted && !scm.IsRevision(revision) {
			wanted, change.Unread = false, "the revision "+revision+" is not the ID of a commit"
		}
	}
	if !s.session.Server.HasHost(source.Host) {
		change.URL, change.Comparison.URL = source.URL(), source.CompareURL(q.From, q.To)
		change.Unread = "the server file has no forge " + source.Host
		return change, nil
	}
	f := s.session.forgeOn(source.Host, s.repository.Forge)
	if address, err := url.Parse(f.Config.URL); err == nil { // a forge may be below a path
		source.Path = strings.TrimPrefix(source.Path, strings.TrimPrefix(address.Path+"/", "/"))
	}
	if f.Config.Kind == serverconfig.ForgeGitHub || f.Config.Kind == serverconfig.ForgeGitea {
		owner, rest, _ := strings.Cut(source.Path, "/")
		name, _, _ := strings.Cut(rest, "/")
		source.Path = owner + "/" + name
		change.Source = source.String()
	}
	change.URL = f.Config.URL + "/" + source.Path
	if wanted {
		// Users who may see the source can follow the link also if promoter may not.
		change.Comparison.URL = change.URL + comparePage(f) + q.From + "..." + q.To
	}
	asked, authorized, err := s.read(ctx, f, source.Path, q.Configured)
	if err != nil {
		change.Unread = notReadable(err)
		return change, temporary(err)
	}
	key := fmt.Sprintf("%s %t %s", f.Config.Name, authorized, strings.ToLower(source.String()))
	cache := &s.session.connections.sources
	if wanted {
		compared, err := cached(cache, s.session.Server.Now, key+" "+q.From+" "+q.To, func() (comparison, error) {
			return compare(ctx, asked, source.Path, q)
		})
		if err != nil {
			change.Unread = s.unread(f, source, q.Configured, authorized, err)
			return change, temporary(err)
		}
		page := change.Comparison.URL
		change.Comparison, change.Removes = compared.Comparison, compared.removes
		change.Comparison.URL = cmp.Or(change.Comparison.URL, page)
	}
	for _, tag := range q.Tags {
		release, err := cached(cache, s.session.Server.Now, key+" release "+tag, func() (scm.Release, error) {
			return asked.Release(ctx, source.Path, tag)
		})
		if temporary(err) != nil {
			return change, err
		}
		if err == nil {
			change.Release = release
			break
		}
	}
	return change, nil
}

// comparePage is what follows the page of a repository on the page that compares commits.
func comparePage(f *Forge) string {
	if f.Config.Kind == serverconfig.ForgeGitLab {
		return "/-/compare/"
	}
	return "/compare/"
}

// read returns how a source is asked.
func (s Sources) read(ctx context.Context, f *Forge, name string, configured bool) (sourceForge, bool, error) {
	if configured {
		return s.authorized(ctx, f, name)
	}
	itself := s.repository.name.Fold && strings.EqualFold(f.Host()+"/"+name, s.repository.name.Text)
	if itself {
		return s.authorized(ctx, f, name)
	}
	asked, ok := f.public.(sourceForge)
	if !ok {
		return nil, false, fault.New(fault.NotFound, "its forge compares no commits")
	}
	return asked, false, nil
}

// comparison is a list of commits, and whether the change reverts them.
type comparison struct {
	scm.Comparison
	removes bool
}

// compare lists the commits of a change; of one that goes back, those that it reverts.
func compare(ctx context.Context, asked scm.Comparer, name string, q scm.ChangeQuery) (comparison, error) {
	forth, err := asked.Compare(ctx, name, q.From, q.To, q.Limit)
	if err != nil || len(forth.Commits) > 0 {
		return comparison{forth, false}, err
	}
	back, err := asked.Compare(ctx, name, q.To, q.From, q.Limit)
	if err != nil || len(back.Commits) == 0 {
		return comparison{forth, false}, err
	}
	return comparison{back, true}, nil
}

// unread explains why commits are not known, and what to set up.
func (s Sources) unread(f *Forge, source scm.Source, configured, authorized bool, err error) string {
	switch kind := fault.KindOf(err); {
	case kind != fault.NotFound && kind != fault.Unauthorized:
		return notReadable(err)
	case authorized:
		return "the source has no such commits, or the credential of the forge " + f.Config.Name + " cannot read " + source.String()
	}
	setUp := "let this repository see it with an entry of sources in the server file"
	if !configured {
		setUp = "set source: " + source.String() + " for the component, and " + setUp
	}
	return source.String() + " has no such commits, or is not public: " + setUp
}

func notReadable(err error) string {
	return "the source is not readable: " + outbound.Scrub(err.Error())
}

// temporary returns an error that may go away soon.
func temporary(err error) error {
	switch fault.KindOf(err) {
	case fault.Temporary, fault.RateLimited:
		return err
	default:
		return nil
	}
}

// Probe asks for a source that the config file names, as it is read for pull requests.
func (s Sources) Probe(ctx context.Context, named string) error {
	releases, name, err := s.Releases(named)
	if err != nil {
		return err
	}
	_, err = releases.Releases(ctx, name, 1)
	return err
}

// sourceCache keeps what sources said. Commits do not change, but who may see them does, and
// so do the notes of releases. Forges allow few requests without a credential.
type sourceCache struct {
	mutex sync.Mutex
	known map[string]cachedSource
}

type cachedSource struct {
	value any
	err   error
	at    time.Time
}

const (
	sourceKept = 6 * time.Hour
	absentKept = time.Hour // what is not there yet, or not public
	maxSources = 4096
)

// cached returns the known answer for a key, or asks. Errors that may go away are not kept.
func cached[T any](c *sourceCache, now func() time.Time, key string, ask func() (T, error)) (T, error) {
	c.mutex.Lock()
	found, ok := c.known[key]
	c.mutex.Unlock()
	kept := sourceKept
	if found.err != nil {
		kept = absentKept
	}
	if value, is := found.value.(T); ok && is && now().Before(found.at.Add(kept)) {
		return value, found.err
	}
	value, err := ask()
	if temporary(err) != nil {
		return value, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.known == nil || len(c.known) >= maxSources {
		c.known = map[string]cachedSource{}
	}
	c.known[key] = cachedSource{value, err, now()}
	return value, err
}
