package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"promoter/internal/fault"
	"promoter/internal/image"
)

// How many tags of a `newest` component are asked for their digest in a pass,
// beside those that were never asked.
const (
	askAllUpTo = 100 // with so few candidates each is asked in every pass
	askBest    = maxEvaluated
	askOthers  = 50 // a slice of the rest, another one in each pass
	askAtOnce  = 8
)

// dated is a candidate with what is remembered of it.
type dated struct {
	image.Candidate
	digest  string
	created time.Time
}

// newest selects by created time. Which digest a tag has may change, so the best
// ones are asked again in every pass and the others in turn; what a digest says
// is asked once ever. While dates are missing nothing is chosen.
func (v *View) newest(ctx context.Context, t *access, r Request, candidates []image.Candidate) (Selection, error) {
	known, unknown := t.splitKnown(candidates, r.Platforms)
	limit := v.batch.client.options.Limits.Dates
	more := len(unknown) - limit
	asked := slices.Concat(unknown[:min(len(unknown), limit)], t.recheck(known, v.validity(r.AsOf)))
	if err := v.askDates(ctx, t, r, asked); err != nil {
		return Selection{}, err
	}
	if more > 0 {
		return Selection{Incomplete: true, Reason: fmt.Sprintf("the created times of %d images are not read yet; one pass reads %d, the next goes on", more, limit)}, nil
	}
	known, unknown = t.splitKnown(candidates, r.Platforms)
	byCreated(known)
	ordered, lost := split(known, unknown)
	s, err := v.firstEligible(ctx, t, r, ordered)
	s.Ineligible = append(s.Ineligible, lost[:min(len(lost), maxEvaluated)]...)
	return s, err
}

// splitKnown sorts candidates into those whose date is known or known to be
// none, and the others.
func (t *access) splitKnown(candidates []image.Candidate, wanted []string) (known []dated, unknown []image.Candidate) {
	for _, c := range candidates {
		digest, ok := t.cache.lastDigest(c.Tag)
		if !ok {
			unknown = append(unknown, c)
			continue
		}
		f, ok := t.cache.description(digest, wanted)
		if !ok {
			unknown = append(unknown, c)
			continue
		}
		known = append(known, dated{Candidate: c, digest: digest, created: f.Created})
	}
	return known, unknown
}

// description is describe without asking.
func (m *cacheEntry) description(digest string, wanted []string) (metadata, bool) {
	found, ok := m.metadata(digest)
	if !ok {
		return metadata{}, false
	}
	chosen, ok := choose(found.Children, wanted)
	if !ok {
		return found, true
	}
	one, ok := m.metadata(chosen.Digest)
	return found.withImage(one), ok
}

// byCreated puts the newest first; of the same age the one that the policy's
// order has first.
func byCreated(all []dated) {
	slices.SortStableFunc(all, func(a, b dated) int {
		return cmp.Or(b.created.Compare(a.created), cmp.Compare(b.Tag, a.Tag))
	})
}

// split takes out what has no date and so cannot be the newest.
func split(known []dated, unknown []image.Candidate) (ordered []image.Candidate, lost []Ineligible) {
	for _, d := range known {
		if image.KnownCreated(d.created) {
			ordered = append(ordered, d.Candidate)
		} else {
			lost = append(lost, Ineligible{Tag: d.Tag, Digest: d.digest, Reason: undated(d.created)})
		}
	}
	for _, c := range unknown {
		lost = append(lost, Ineligible{Tag: c.Tag, Reason: noImage})
	}
	return ordered, lost
}

// recheck picks the tags that are asked although their digest was known once: all
// of few; else the best, and the next slice of the others, so that a tag that
// moved is noticed after some passes. As long as answers count, the slice is the same.
func (t *access) recheck(known []dated, when validity) []image.Candidate {
	known = slices.Clone(known)
	byCreated(known)
	var asked []image.Candidate
	for i, d := range known {
		if len(known) <= askAllUpTo || i < askBest {
			asked = append(asked, d.Candidate)
		}
	}
	rest := known[len(asked):]
	if len(rest) == 0 {
		return asked
	}
	turn := t.cache.nextSlice(when)
	for i := range min(askOthers, len(rest)) {
		asked = append(asked, rest[(turn*askOthers+i)%len(rest)].Candidate)
	}
	return asked
}

// askDates asks for digests and dates. A tag without an image is forgotten; any
// other failure ends the question.
func (v *View) askDates(ctx context.Context, t *access, r Request, asked []image.Candidate) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(askAtOnce)
	for _, c := range asked {
		group.Go(func() (err error) {
			defer fault.Survive(&err)
			digest, err := v.digest(ctx, t, c.Tag, r.AsOf)
			if fault.KindOf(err) == fault.NotFound {
				t.cache.setLastDigest(c.Tag, "")
				return nil
			}
			if err != nil {
				return err
			}
			t.cache.setLastDigest(c.Tag, digest)
			if _, err = v.describe(ctx, t, digest, r.Platforms); fault.KindOf(err) == fault.NotFound {
				return nil
			}
			return err
		})
	}
	return group.Wait()
}
