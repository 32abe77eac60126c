package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/identity"
	"promoter/internal/image"
)

// Subscription is something that the config of a repository refers to.
type Subscription struct {
	Image   image.Pattern // of image repositories
	Release Release       // set: of releases instead
	Health  Health        // set: of reports about health instead
}

// Health is an object whose health is reported to a receiver.
type Health struct {
	Receiver string
	Subject  string // as in health.Report
}

// Release is a repository whose releases are referred to.
type Release struct {
	Host string // of the web pages
	Name string // OWNER/NAME
}

// The kinds of subscriptions.
const (
	imageSubscription   = "image"
	releaseSubscription = "release"
	healthSubscription  = "health"
)

// subscriptionRow is a subscription as it is stored.
type subscriptionRow struct {
	Kind    string `json:"kind"`
	Host    string `json:"host"`
	Path    string `json:"path"`
	Pattern string `json:"pattern"`
}

// maxSegments limits the segments of a path that find patterns.
const maxSegments = 16

func (s Subscription) row() subscriptionRow {
	if s.Health != (Health{}) {
		return subscriptionRow{Kind: healthSubscription, Host: s.Health.Receiver, Path: strings.ToLower(s.Health.Subject)}
	}
	if s.Release != (Release{}) {
		return subscriptionRow{Kind: releaseSubscription, Host: strings.ToLower(s.Release.Host), Path: strings.ToLower(s.Release.Name)}
	}
	if exact, ok := s.Image.Repository(); ok {
		return subscriptionRow{Kind: imageSubscription, Host: exact.Host(), Path: exact.Path()}
	}
	host, path := s.Image.Prefix()
	segments := strings.Split(path, "/")
	path = strings.Join(segments[:min(len(segments), maxSegments)], "/")
	return subscriptionRow{Kind: imageSubscription, Host: host, Path: path, Pattern: s.Image.String()}
}

// SetSubscriptions replaces the subscriptions of a repository. It reports whether some
// are new: events of those did not reach the repository until now.
func (s *Store) SetSubscriptions(
	ctx context.Context, tx *database.Tx, repository string, subscriptions []Subscription,
) (added bool, err error) {
	wanted := map[subscriptionRow]bool{}
	for _, one := range subscriptions {
		wanted[one.row()] = true
	}
	known := map[subscriptionRow]bool{}
	err = tx.Query(ctx, func(scan database.Scan) error {
		var r subscriptionRow
		err := scan(&r.Kind, &r.Host, &r.Path, &r.Pattern)
		known[r] = true
		return err
	}, "select kind, host, path, pattern from subscription where repository = ?", repository)
	if err != nil || maps.Equal(known, wanted) {
		return false, err
	}
	without := func(all, others map[subscriptionRow]bool) (left []subscriptionRow) {
		for r := range all {
			if !others[r] {
				left = append(left, r)
			}
		}
		return left
	}
	if err := execEach(ctx, tx, without(known, wanted), `
delete from subscription where repository = ? and (kind, host, path, pattern) in (
	select value->>'kind', value->>'host', value->>'path', value->>'pattern' from @elements(?))`, repository); err != nil {
		return false, err
	}
	missing := without(wanted, known)
	return len(missing) > 0, execEach(ctx, tx, missing, `
insert into subscription (repository, kind, host, path, pattern)
select cast(? as text), value->>'kind', value->>'host', value->>'path', value->>'pattern' from @elements(?) where true
on conflict do nothing`, repository)
}

// Subscribers returns the keys of the repositories that an event of a receiver concerns, sorted.
func (s *Store) Subscribers(ctx context.Context, tx *database.Tx, receiver string, e event.Event) (found []string, err error) {
	const subscribed = "select repository from subscription where kind = ? and host = ? and path = ?"
	host, name := strings.ToLower(e.Repository.Host), strings.ToLower(e.Repository.Name)
	switch e.Kind {
	case event.KindImage:
		found, err = subscribersOfImage(ctx, tx, e.Image)
	case event.KindRelease:
		found, err = readTexts(ctx, tx, subscribed, releaseSubscription, host, name)
	case event.KindRepository, event.KindComment:
		found, err = repositoriesNamed(ctx, tx, e.Repository)
	case event.KindHealth:
		if host != "" {
			found, err = repositoriesNamed(ctx, tx, e.Repository)
		} else {
			found, err = readTexts(ctx, tx, subscribed, healthSubscription, receiver, strings.ToLower(e.Subject))
		}
	case event.KindInstallation:
	}
	slices.Sort(found)
	return slices.Compact(found), err
}

// HealthSubscriptions returns the objects whose health repositories follow, by the key of each
// repository: of one receiver, or of all of them.
func (s *Store) HealthSubscriptions(ctx context.Context, receiver string) (found map[string][]Health, err error) {
	found = map[string][]Health{}
	query, args := "select repository, host, path from subscription where kind = ?", []any{healthSubscription}
	if receiver != "" {
		query, args = query+" and host = ?", append(args, receiver)
	}
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) error {
		return tx.Query(ctx, func(scan database.Scan) error {
			var key string
			var one Health
			err := scan(&key, &one.Receiver, &one.Subject)
			found[key] = append(found[key], one)
			return err
		}, query+" order by repository, host, path", args...)
	})
	return found, err
}

// RepositoriesNamed returns the repositories that a report may name so.
func (s *Store) RepositoriesNamed(ctx context.Context, name event.Repository) (found []Repository, err error) {
	var keys []string
	err = s.db.View(ctx, func(ctx context.Context, tx *database.Tx) (err error) {
		keys, err = repositoriesNamed(ctx, tx, name)
		return err
	})
	for _, key := range keys {
		one, err := s.Repository(ctx, key)
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, err
}

// subscribersOfImage finds those that name the image, and the patterns that match it,
// with one query: patterns are indexed by their literal prefix, so only those near the
// image are read.
func subscribersOfImage(ctx context.Context, tx *database.Tx, named event.Image) (found []string, err error) {
	host, path := normalized(named)
	prefixes, segments := []any{"", path}, strings.Split(path, "/")
	for n := range min(len(segments)-1, maxSegments) {
		prefixes = append(prefixes, strings.Join(segments[:n+1], "/"))
	}
	query := "select repository, path, pattern from subscription where kind = ? and path in (" + placeholders(len(prefixes)) + ")"
	args := append([]any{imageSubscription}, prefixes...)
	if host != "" {
		query, args = query+" and host in (?, '')", append(args, host)
	}
	err = tx.Query(ctx, func(scan database.Scan) error {
		var repository, prefix, pattern string
		if err := scan(&repository, &prefix, &pattern); err != nil {
			return err
		}
		if pattern == "" && prefix == path || pattern != "" && matches(pattern, host, path) {
			found = append(found, repository)
		}
		return nil
	}, query, args...)
	return found, err
}

// matches reports whether a pattern matches the image. If the sender does not name the
// host, any host matches.
func matches(text, host, path string) bool {
	pattern, err := image.ParsePattern(text)
	if err != nil {
		return false // written by another release
	}
	if host == "" {
		return pattern.MatchPath(path)
	}
	r, err := image.ParseRepository(host + "/" + path)
	return err == nil && pattern.Match(r)
}

// repositoriesNamed finds a repository by its ID, which a rename keeps, or by its name. One of
// plain Git is also found by its address, of which the name may be only the end.
func repositoriesNamed(ctx context.Context, tx *database.Tx, r event.Repository) ([]string, error) {
	if key, err := identity.ForgeKey(r.Host, r.ID); err == nil {
		found, err := readTexts(ctx, tx, "select key from repository where key = ?", string(key))
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	keys := []any{strings.ToLower(r.Host), strings.ToLower(r.Name)}
	for _, scheme := range []string{"https", "ssh", "http"} {
		key, _ := identity.GitKey(scheme + "://" + r.Host + "/" + r.Name) // empty without a name
		keys = append(keys, string(key))
	}
	return readTexts(ctx, tx, "select key from repository where host = ? and name = ? or key in (?, ?, ?)", keys...)
}
