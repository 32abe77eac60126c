package registry

import (
	"context"
	"fmt"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/image"
)

// Request says what is wanted of a repository.
type Request struct {
	Repository image.Repository
	Policy     *image.Policy
	// Platforms are what a version must run on, os/arch[/variant]. The dates of
	// the first are those of an index. Empty: any.
	Platforms []string
	// MinAge is how long a version must have been there.
	MinAge time.Duration
	// FirstSeen says when a digest was seen for the first time. Nil: nobody
	// remembers, and nothing is ever old enough. Registries do not tell when an
	// image was pushed, and what the publisher says proves nothing.
	FirstSeen func(digest string) (time.Time, bool)
	// AsOf is the moment of the last thing that makes answers of registries old, as
	// whoever asks counts such things. An answer for it or a later one is taken from
	// whichever Pass got it, or process before; all others are asked for. Zero: only
	// answers of this Pass.
	AsOf time.Time
}

// Selection is the best version that there is, or why there is none.
type Selection struct {
	Version image.Version
	Found   bool
	// Ineligible are the versions that would be better and may not be taken, best
	// first.
	Ineligible []Ineligible
	// Skipped is how many tags are not understood.
	Skipped int
	// Incomplete says that the registry was not asked to the end; nothing is
	// found then, and a later pass goes on.
	Incomplete bool
	// Reason says why nothing is found.
	Reason string
}

// Ineligible says why a version is not taken.
type Ineligible struct {
	Tag    string
	Digest string // empty: the tag has none
	Reason string
	Until  time.Time // when it may be taken; zero: not known
}

// maxEvaluated is how many versions are looked at to find one that may be taken.
const maxEvaluated = 20

// Select asks for the best version. An answer that may miss a better one is
// never Found: a list that fails is an error, one that is not read to its end is
// Incomplete.
func (v *View) Select(ctx context.Context, r Request) (Selection, error) {
	t, err := v.at(r.Repository)
	if err != nil {
		return Selection{}, err
	}
	if source, ok := r.Policy.Release(); ok {
		return Selection{}, fault.New(fault.Invalid, "the releases of %s are not asked at a registry", source)
	}
	if tag, ok := r.Policy.Moving(); ok {
		return v.moving(ctx, t, r, tag)
	}
	found, err := v.list(ctx, t, r.AsOf)
	if err != nil {
		return Selection{}, err
	}
	candidates := r.Policy.Candidates(found.tags)
	if found.incomplete != "" {
		return Selection{Incomplete: true, Reason: found.incomplete, Skipped: candidates.Skipped}, nil
	}
	chosen, err := v.among(ctx, t, r, candidates.Ordered)
	chosen.Skipped = candidates.Skipped
	if err == nil && !chosen.Found && chosen.Reason == "" {
		chosen.Reason = nothing(len(found.tags), candidates, chosen.Ineligible)
	}
	return chosen, err
}

func (v *View) among(ctx context.Context, t *access, r Request, candidates []image.Candidate) (Selection, error) {
	if r.Policy.NeedsCreated() {
		return v.newest(ctx, t, r, candidates)
	}
	return v.firstEligible(ctx, t, r, candidates)
}

// nothing says why no version is found.
func nothing(tags int, c image.Candidates, waiting []Ineligible) string {
	switch {
	case tags == 0:
		return "the registry lists no tags"
	case len(waiting) > 0:
		return "no version may be taken yet: " + waiting[0].Tag + ": " + waiting[0].Reason
	}
	return fmt.Sprintf("none of %d tags fits: %d excluded, %d not understood", tags, c.Excluded, c.Skipped)
}

// moving selects what a moving tag points to. Its publisher orders the versions;
// whether it moved back is for the caller to decide, from Created and history.
func (v *View) moving(ctx context.Context, t *access, r Request, tag string) (Selection, error) {
	found, why, err := v.evaluate(ctx, t, r, image.Candidate{Tag: tag})
	switch {
	case err != nil:
		return Selection{}, err
	case why != nil:
		return Selection{Ineligible: []Ineligible{*why}, Reason: tag + ": " + why.Reason}, nil
	}
	return Selection{Version: found, Found: true}, nil
}

// firstEligible takes the first candidate that may be taken.
func (v *View) firstEligible(ctx context.Context, t *access, r Request, candidates []image.Candidate) (Selection, error) {
	var s Selection
	for _, c := range candidates {
		if len(s.Ineligible) == maxEvaluated {
			s.Incomplete = true
			s.Reason = fmt.Sprintf("the best %d versions may not be taken; older ones are not looked at: %s: %s", maxEvaluated, s.Ineligible[0].Tag, s.Ineligible[0].Reason)
			return s, nil
		}
		found, why, err := v.evaluate(ctx, t, r, c)
		if err != nil {
			return Selection{}, err
		}
		if why == nil {
			s.Version, s.Found = found, true
			return s, nil
		}
		s.Ineligible = append(s.Ineligible, *why)
		if r.ageUnknown() {
			return s, nil // no other will be known to be old enough either
		}
	}
	return s, nil
}

// noImage is a tag that is listed, or announced, before its image is there, or
// that outlived it.
const noImage = "the registry has no image under this tag (yet)"

// evaluate says whether a candidate may be taken, or why not.
func (v *View) evaluate(ctx context.Context, t *access, r Request, c image.Candidate) (image.Version, *Ineligible, error) {
	digest, err := v.digest(ctx, t, c.Tag, r.AsOf)
	if fault.KindOf(err) == fault.NotFound {
		return image.Version{}, &Ineligible{Tag: c.Tag, Reason: noImage}, nil
	}
	if err != nil {
		return image.Version{}, nil, err
	}
	why := Ineligible{Tag: c.Tag, Digest: digest}
	found, err := v.describe(ctx, t, digest, r.Platforms)
	if fault.KindOf(err) == fault.NotFound {
		why.Reason = err.Error()
		return image.Version{}, &why, nil
	}
	if err != nil {
		return image.Version{}, nil, err
	}
	chosen := version(digest, found)
	chosen.Tag, chosen.Version = c.Tag, first(c.Version, chosen.Version)
	if why.Reason = unmetRequirement(r, found); why.Reason == "" {
		why.Reason, why.Until = r.tooYoung(digest, v.batch.client.options.Now())
	}
	if why.Reason != "" {
		return image.Version{}, &why, nil
	}
	return chosen, nil, nil
}

// unmetRequirement says what a digest lacks.
func unmetRequirement(r Request, f metadata) string {
	if f.Opaque != "" && (len(r.Platforms) > 0 || r.Policy.NeedsCreated()) {
		return f.Opaque
	}
	if lost := missing(r.Platforms, f.platforms()); len(lost) > 0 {
		return fmt.Sprintf("no image for %s; there is %s", strings.Join(lost, ", "), listed(f.platforms()))
	}
	if r.Policy.NeedsCreated() && !image.KnownCreated(f.Created) {
		return undated(f.Created)
	}
	return ""
}

func listed(platforms []string) string {
	if len(platforms) == 0 {
		return "none that it names"
	}
	return strings.Join(platforms, ", ")
}

// undated explains a date that tells nothing: builders that want the same bits
// every time stamp a fixed one.
func undated(created time.Time) string {
	if created.IsZero() {
		return "it does not say when it was created, so it cannot be the newest"
	}
	return "it says that it was created in " + created.UTC().Format("2006") + ", which is a fixed stamp, so it cannot be the newest: use numeric, semver or a moving tag"
}

// ageUnknown says that the age of no version can be known.
func (r Request) ageUnknown() bool { return r.MinAge > 0 && r.FirstSeen == nil }

// tooYoung says why a digest is not old enough, and until when.
func (r Request) tooYoung(digest string, now time.Time) (string, time.Time) {
	if r.MinAge <= 0 {
		return "", time.Time{}
	}
	if r.ageUnknown() {
		return fmt.Sprintf("minAge %s: it cannot be known here since when it is there, and when it was built proves nothing", r.MinAge), time.Time{}
	}
	seen, ok := r.FirstSeen(digest)
	if !ok || seen.After(now) {
		return fmt.Sprintf("minAge %s: seen now for the first time", r.MinAge), now.Add(r.MinAge)
	}
	if until := seen.Add(r.MinAge); now.Before(until) {
		return fmt.Sprintf("minAge %s: first seen %s", r.MinAge, seen.UTC().Format(time.RFC3339)), until
	}
	return "", time.Time{}
}
