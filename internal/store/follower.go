package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/image"
)

// Subscription is something that the config of a lane's repository follows.
type Subscription struct {
	Image   image.Pattern // of image repositories, with or without stars
	Release Release       // set: of releases instead
}

// Release is a repository whose releases are followed.
type Release struct {
	Host string // of its pages
	Name string // OWNER/NAME
}

// The kinds of followers.
const (
	followsImage   = "image"
	followsRelease = "release"
)

// row is a follower as it is kept.
type row struct{ kind, host, path, pattern string }

func (f Subscription) row() row {
	if f.Release != (Release{}) {
		return row{kind: followsRelease, host: strings.ToLower(f.Release.Host), path: strings.ToLower(f.Release.Name)}
	}
	if exact, ok := f.Image.Repository(); ok {
		return row{kind: followsImage, host: exact.Host(), path: exact.Path()}
	}
	host, path := f.Image.Prefix()
	segments := strings.Split(path, "/")
	path = strings.Join(segments[:min(len(segments), maxSegments)], "/")
	return row{kind: followsImage, host: host, path: path, pattern: f.Image.String()}
}

// maxSegments bounds how much of a path finds patterns.
const maxSegments = 16

// beginnings are a path and all that patterns which match it can have before their
// stars, so that a hint reads the patterns near it, and not all of a host.
func beginnings(path string) []any {
	all, segments := []any{"", path}, strings.Split(path, "/")
	for n := range min(len(segments)-1, maxSegments) {
		all = append(all, strings.Join(segments[:n+1], "/"))
	}
	return all
}

// SetSubscriptions makes a lane follow these things and no others, and says whether some
// of them are new: hints about those found nobody until now.
func (s *Store) SetSubscriptions(ctx context.Context, tx *database.Tx, lane string, follows []Subscription) (added bool, err error) {
	wanted := map[row]bool{}
	for _, f := range follows {
		wanted[f.row()] = true
	}
	known, err := followsOf(ctx, tx, lane)
	if err != nil || maps.Equal(known, wanted) {
		return false, err
	}
	tx.ForgetAnswers()
	for r := range known {
		if wanted[r] {
			continue
		}
		if _, err := tx.Exec(ctx, "delete from follower where lane = ? and kind = ? and host = ? and path = ? and pattern = ?", lane, r.kind, r.host, r.path, r.pattern); err != nil {
			return false, err
		}
	}
	for r := range wanted {
		if known[r] {
			continue
		}
		added = true
		if _, err := tx.Exec(ctx, "insert into follower (lane, kind, host, path, pattern) values (?, ?, ?, ?, ?) on conflict do nothing", lane, r.kind, r.host, r.path, r.pattern); err != nil {
			return false, err
		}
	}
	return added, nil
}

func followsOf(ctx context.Context, tx *database.Tx, lane string) (map[row]bool, error) {
	known := map[row]bool{}
	err := tx.Query(ctx, func(scan database.Scan) error {
		var r row
		if err := scan(&r.kind, &r.host, &r.path, &r.pattern); err != nil {
			return err
		}
		known[r] = true
		return nil
	}, "select kind, host, path, pattern from follower where lane = ?", lane)
	return known, err
}

// Subscribers returns the lanes that what is hinted at may concern, sorted. Who asks
// leaves them as they are: others of the transaction may get the same ones.
func (s *Store) Subscribers(ctx context.Context, tx *database.Tx, hint event.Event) ([]string, error) {
	ask := func() ([]string, error) {
		found, err := followers(ctx, tx, hint)
		slices.Sort(found)
		return slices.Compact(found), err
	}
	if hint.Kind != event.KindImage {
		return ask()
	}
	return database.Once(tx, imageAsked{hint.Image.Host, hint.Image.Path}, ask)
}

func followers(ctx context.Context, tx *database.Tx, hint event.Event) ([]string, error) {
	switch hint.Kind {
	case event.KindImage:
		return followersOfImage(ctx, tx, hint.Image)
	case event.KindRelease:
		return lanes(ctx, tx, "select lane from follower where kind = ? and host = ? and path = ?",
			followsRelease, strings.ToLower(hint.Repository.Host), strings.ToLower(hint.Repository.Name))
	case event.KindRepository, event.KindComment:
		return lanesOf(ctx, tx, hint.Repository)
	case event.KindHealth, event.KindInstallation:
	}
	return nil, nil
}

// imageAsked is the question who follows an image. The deliveries of a moment are often
// about one image, and ask it once.
type imageAsked struct{ host, path string }

// followersOfImage asks at once for those that name the image, and for the patterns
// near it: those of its host, and those of many hosts. It is asked in the transaction
// that all deliveries of a moment share, so it is one question.
func followersOfImage(ctx context.Context, tx *database.Tx, said event.Image) (found []string, err error) {
	host, path := said.Host, said.Path
	if known := said.Repository(); !known.IsZero() {
		host, path = known.Host(), known.Path()
	}
	near := beginnings(path)
	query := "select lane, path, pattern from follower where kind = ? and path in (?" + strings.Repeat(", ?", len(near)-1) + ")"
	args := append([]any{followsImage}, near...)
	if host != "" {
		query, args = query+" and host in (?, '')", append(args, host)
	}
	err = tx.Query(ctx, func(scan database.Scan) error {
		var lane, at, text string
		if err := scan(&lane, &at, &text); err != nil {
			return err
		}
		if text == "" && at == path || text != "" && mayMatch(text, host, path) {
			found = append(found, lane)
		}
		return nil
	}, query, args...)
	return found, err
}

// mayMatch says whether a pattern may mean the image. Where no host was said, any may
// be meant.
func mayMatch(text, host, path string) bool {
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

// lanes reads a column of lanes.
func lanes(ctx context.Context, tx *database.Tx, query string, args ...any) (found []string, err error) {
	err = tx.Query(ctx, func(scan database.Scan) error {
		var lane string
		if err := scan(&lane); err != nil {
			return err
		}
		found = append(found, lane)
		return nil
	}, query, args...)
	return found, err
}
