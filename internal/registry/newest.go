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

// How many tags with a known date have their digest requested again for a time, see
// Request.MovedAsOf.
const (
	recheckAllUpTo = 100 // with so few candidates, all of them
	recheckBest    = maxEvaluated
	recheckOthers  = 50 // a slice of the rest, another one each time
	parallelDates  = 8
)

// dated is a candidate with its cached date.
type dated struct {
	image.Candidate
	digest  string
	created time.Time
}

// newest selects by created time. The digest of a tag may change, so the best tags are
// requested again for each time and the others in slices; the metadata of a digest is
// requested only once ever. While dates are missing, nothing is selected.
func (v *View) newest(ctx context.Context, a *access, r Request, candidates []image.Candidate) (Selection, error) {
	known, unknown := a.cachedDates(candidates, r.Platforms)
	limit := v.batch.client.options.Limits.Dates
	more := len(unknown) - limit
	requested := slices.Concat(unknown[:min(len(unknown), limit)], a.recheck(known, v.validity(r.MovedAsOf)))
	if err := v.requestDates(ctx, a, r, requested); err != nil {
		return Selection{}, err
	}
	if more > 0 {
		const reason = "the created times of %d images are not read yet; one reconciliation reads %d, the next one continues"
		return Selection{Incomplete: true, Reason: fmt.Sprintf(reason, more, limit)}, nil
	}
	known, unknown = a.cachedDates(candidates, r.Platforms)
	byCreated(known)
	var ordered []image.Candidate
	var undatable []Ineligible
	for _, d := range known {
		if image.KnownCreated(d.created) {
			ordered = append(ordered, d.Candidate)
		} else {
			undatable = append(undatable, Ineligible{Tag: d.Tag, Digest: d.digest, Reason: undated(d.created)})
		}
	}
	for _, c := range unknown {
		undatable = append(undatable, Ineligible{Tag: c.Tag, Reason: noImage})
	}
	s, err := v.firstEligible(ctx, a, r, ordered)
	s.Ineligible = append(s.Ineligible, undatable[:min(len(undatable), maxEvaluated)]...)
	return s, err
}

// cachedDates separates candidates whose metadata is cached from the others.
func (a *access) cachedDates(candidates []image.Candidate, platforms []string) (known []dated, unknown []image.Candidate) {
	for _, c := range candidates {
		digest, ok := a.cache.lastDigest(c.Tag)
		var m metadata
		if ok {
			m, ok = a.cache.description(digest, platforms)
		}
		if !ok {
			unknown = append(unknown, c)
			continue
		}
		known = append(known, dated{Candidate: c, digest: digest, created: m.Created})
	}
	return known, unknown
}

// byCreated sorts the newest first, and among equal dates as the policy does.
func byCreated(all []dated) {
	slices.SortStableFunc(all, func(a, b dated) int {
		return cmp.Or(b.created.Compare(a.created), cmp.Compare(b.Tag, a.Tag))
	})
}

// recheck selects the tags whose digest is requested although it is cached: all of a
// few; else the best, and the next slice of the others, so that a moved tag is noticed
// after some time. While responses are accepted from the cache, the slice is the same.
func (a *access) recheck(known []dated, when validity) []image.Candidate {
	known = slices.Clone(known)
	byCreated(known)
	best := len(known)
	if best > recheckAllUpTo {
		best = recheckBest
	}
	var selected []image.Candidate
	for _, d := range known[:best] {
		selected = append(selected, d.Candidate)
	}
	rest := known[best:]
	if len(rest) == 0 {
		return selected
	}
	slice := a.cache.nextSlice(when)
	for i := range min(recheckOthers, len(rest)) {
		selected = append(selected, rest[(slice*recheckOthers+i)%len(rest)].Candidate)
	}
	return selected
}

// requestDates requests digests and metadata into the cache. A tag without an image is
// removed; any other error ends the request.
func (v *View) requestDates(ctx context.Context, a *access, r Request, candidates []image.Candidate) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelDates)
	for _, c := range candidates {
		group.Go(func() (err error) {
			defer fault.Survive(&err)
			digest, err := v.digest(ctx, a, c.Tag, r)
			if fault.KindOf(err) == fault.NotFound {
				a.cache.setLastDigest(c.Tag, "")
				return nil
			}
			if err != nil {
				return err
			}
			a.cache.setLastDigest(c.Tag, digest)
			if _, err = v.describe(ctx, a, digest, r.Platforms); fault.KindOf(err) == fault.NotFound {
				return nil
			}
			return err
		})
	}
	return group.Wait()
}
