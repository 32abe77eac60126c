package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"promoter/internal/fault"
	"promoter/internal/image"
)

// listing is what is known of a repository's tags.
type listing struct {
	tags []string
	// incomplete says why the tags are not all; nothing is chosen from them.
	incomplete string
	// whole says that the list was read to its end.
	whole bool
}

// progress is how far a tag list was read that is longer than one pass may read.
type progress struct {
	Tags []string `json:"tags,omitempty"` // read since the beginning
	Next string   `json:"next,omitempty"` // where to go on; empty: at the beginning
	// Linked says that the registry names its next pages.
	Linked bool `json:"linked,omitempty"`
	// Done is the whole list as it was read last. While the next reading is under
	// way, it stands in for what is not read yet; whether a tag is still there is
	// asked before it is chosen.
	Done []string `json:"done,omitempty"`
}

// maxTags is the longest tag list that is read at all.
const maxTags = 500_000

func (s progress) valid() bool {
	return len(s.Next) <= maxCursor && !slices.ContainsFunc(s.Tags, invalidTag) && !slices.ContainsFunc(s.Done, invalidTag)
}

func invalidTag(tag string) bool { return !image.ValidTag(tag) }

// list reads the tags of a repository, once in a pass and for a moment.
func (v *View) list(ctx context.Context, t *access, asOf time.Time) (listing, error) {
	if known, ok := t.cache.tags(v.validity(asOf)); ok {
		return known, nil
	}
	return v.batch.tags.asOf(ctx, t.key(""), asOf, func() (listing, error) {
		read, err := ask(v, t, "tags", func() (listing, error) {
			return t.readTags(ctx, v.batch.client.options.Limits.Tags)
		})
		if err == nil && read.whole {
			t.cache.setTags(read.tags, asOf)
		}
		return read, err
	})
}

// key names a question in a pass.
func (t *access) key(of string) string {
	return t.scope.credential + "\x00" + t.repository.String() + "\x00" + of
}

// settle explains an error and drops a login that was refused.
func (v *View) settle(t *access, noun string, err error) error {
	err = t.explain(noun, err)
	if fault.KindOf(err) == fault.Unauthorized {
		v.batch.client.forget(t)
	}
	return err
}

// readTags reads as many tags as one pass may and remembers where it stopped.
func (t *access) readTags(ctx context.Context, limit int) (listing, error) {
	before := t.cache.progress()
	now, err := t.readPages(ctx, before, limit)
	switch {
	case fault.KindOf(err) == fault.RateLimited && now.Next != "":
		t.cache.setProgress(now) // what was read is not asked for again after the pause
		return listing{}, err
	case err != nil:
		if before.Next != "" {
			t.cache.setProgress(progress{Done: before.Done}) // the place may be gone: from the beginning
		}
		return listing{}, err
	case now.Next != "":
		t.cache.setProgress(now)
		return now.listing(), nil
	case before.Next != "" || len(before.Done) > 0:
		t.cache.setProgress(progress{Done: now.Tags})
	}
	return listing{tags: now.Tags, whole: true}, nil
}

// listing is what an unfinished reading can say.
func (s progress) listing() listing {
	if len(s.Done) == 0 {
		return listing{incomplete: fmt.Sprintf("the repository has more tags than one pass reads: %d are read, the next pass goes on", len(s.Tags))}
	}
	all := slices.Concat(s.Done, s.Tags)
	slices.Sort(all)
	return listing{tags: slices.Compact(all)}
}

// readPages reads pages from where the sweep stands until its end or the limit. On
// an error it returns what was read before.
func (t *access) readPages(ctx context.Context, s progress, limit int) (progress, error) {
	s.Tags = slices.Clone(s.Tags)
	seen := make(map[string]bool, len(s.Tags))
	for _, tag := range s.Tags {
		seen[tag] = true
	}
	for read, idle := 0, 0; ; {
		got, err := t.readPage(ctx, s.Next)
		if err != nil {
			return s, err
		}
		fresh := s.add(got.tags, seen)
		read += len(got.tags)
		s.Linked = s.Linked || got.next != ""
		s.Next = got.next
		if got.full && !s.Linked && fresh > 0 {
			s.Next = after(got.tags[len(got.tags)-1])
		}
		if idle++; fresh > 0 {
			idle = 0
		}
		switch {
		case len(s.Tags) > maxTags:
			return s, fault.New(fault.Invalid, "the repository has more than %d tags: delete old ones, or follow one moving tag with `select: {tag: …}`", maxTags)
		case idle > maxIdlePages:
			return s, fault.Wrap(fault.Invalid, errRound)
		case s.Next == "" || read >= limit:
			return s, nil
		}
	}
}

// add takes over the tags that are new and returns how many there were.
func (s *progress) add(tags []string, seen map[string]bool) int {
	before := len(s.Tags)
	for _, tag := range tags {
		if !seen[tag] && image.ValidTag(tag) {
			seen[tag] = true
			s.Tags = append(s.Tags, tag)
		}
	}
	return len(s.Tags) - before
}

// maxIdlePages is how many pages in a row may bring nothing new.
const maxIdlePages = 10

// errRound is a registry whose pages lead back to themselves.
var errRound = errors.New("the registry's pages lead in a circle")
