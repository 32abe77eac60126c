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
	askBest    = maxTried
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
func (v *View) newest(ctx context.Context, t *target, r Request, candidates []image.Candidate) (Selection, error) {
	known, unknown := t.remembered(candidates, r.Platforms)
	limit := v.pass.client.options.Limits.Dates
	more := len(unknown) - limit
	asked := slices.Concat(unknown[:min(len(unknown), limit)], t.again(known, v.window(r.AsOf)))
	if err := v.askDates(ctx, t, r, asked); err != nil {
		return Selection{}, err
	}
	if more > 0 {
		return Selection{Incomplete: true, Reason: fmt.Sprintf("the created times of %d images are not read yet; one pass reads %d, the next goes on", more, limit)}, nil
	}
	known, unknown = t.remembered(candidates, r.Platforms)
	byCreated(known)
	ordered, lost := split(known, unknown)
	s, err := v.best(ctx, t, r, ordered)
	s.Waiting = append(s.Waiting, lost[:min(len(lost), maxTried)]...)
	return s, err
}

// remembered sorts candidates into those whose date is known or known to be
// none, and the others.
func (t *target) remembered(candidates []image.Candidate, wanted []string) (known []dated, unknown []image.Candidate) {
	for _, c := range candidates {
		digest, ok := t.memory.pointed(c.Tag)
		if !ok {
			unknown = append(unknown, c)
			continue
		}
		f, ok := t.memory.described(digest, wanted)
		if !ok {
			unknown = append(unknown, c)
			continue
		}
		known = append(known, dated{Candidate: c, digest: digest, created: f.Created})
	}
	return known, unknown
}

// described is describe without asking.
func (m *memory) described(digest string, wanted []string) (fact, bool) {
	found, ok := m.fact(digest)
	if !ok {
		return fact{}, false
	}
	chosen, ok := choose(found.Children, wanted)
	if !ok {
		return found, true
	}
	one, ok := m.fact(chosen.Digest)
	return found.of(one), ok
}

// byCreated puts the newest first; of the same age the one that the policy's
// order has first.
func byCreated(all []dated) {
	slices.SortStableFunc(all, func(a, b dated) int {
		return cmp.Or(b.created.Compare(a.created), cmp.Compare(b.Tag, a.Tag))
	})
}

// split takes out what has no date and so cannot be the newest.
func split(known []dated, unknown []image.Candidate) (ordered []image.Candidate, lost []Because) {
	for _, d := range known {
		if image.KnownCreated(d.created) {
			ordered = append(ordered, d.Candidate)
		} else {
			lost = append(lost, Because{Tag: d.Tag, Digest: d.digest, Reason: undated(d.created)})
		}
	}
	for _, c := range unknown {
		lost = append(lost, Because{Tag: c.Tag, Reason: noImage})
	}
	return ordered, lost
}

// again picks the tags that are asked although their digest was known once: all
// of few; else the best, and the next slice of the others, so that a tag that
// moved is noticed after some passes. As long as answers count, the slice is the same.
func (t *target) again(known []dated, when window) []image.Candidate {
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
	turn := t.memory.turn(when)
	for i := range min(askOthers, len(rest)) {
		asked = append(asked, rest[(turn*askOthers+i)%len(rest)].Candidate)
	}
	return asked
}

// askDates asks for digests and dates. A tag without an image is forgotten; any
// other failure ends the question.
func (v *View) askDates(ctx context.Context, t *target, r Request, asked []image.Candidate) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(askAtOnce)
	for _, c := range asked {
		group.Go(func() (err error) {
			defer fault.Survive(&err)
			digest, err := v.digest(ctx, t, c.Tag, r.AsOf)
			if fault.KindOf(err) == fault.NotFound {
				t.memory.point(c.Tag, "")
				return nil
			}
			if err != nil {
				return err
			}
			t.memory.point(c.Tag, digest)
			if _, err = v.describe(ctx, t, digest, r.Platforms); fault.KindOf(err) == fault.NotFound {
				return nil
			}
			return err
		})
	}
	return group.Wait()
}
