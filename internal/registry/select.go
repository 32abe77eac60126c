package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/budget"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/signature"
)

// Request describes the wanted version of an image repository.
type Request struct {
	Repository image.Repository
	Policy     *image.Policy
	// Artifact is what the component follows: a version of another kind is none of it. Empty: anything.
	Artifact image.Artifact
	// Platforms are what a version must run on, os/arch[/variant]. The first selects
	// the date of an index. Empty: any.
	Platforms []string
	// MinAge is how long a version must have been available.
	MinAge time.Duration
	// FirstSeen returns when a digest was first seen. Nil: that is not known, and no
	// version is ever old enough. Registries do not report when an image was pushed,
	// and what its publisher says proves nothing.
	FirstSeen func(digest string) (time.Time, bool)
	// Signed is what signatures must prove about a version.
	Signed signature.Policy
	// DigestOnly requests no date, revision, and source of a version, unless the policy or
	// Platforms need them, or the tag is a moving one: two requests less, and more for an
	// index.
	DigestOnly bool
	// Present reports whether files have a tag, so that its kind needs no request with DigestOnly. Nil: none does.
	Present func(tag string) bool
	// Newer asks for newer versions that the policy does not select.
	Newer bool
	// AsOf is the time of the last event that made responses of registries outdated.
	// Responses for this time or a later one are accepted from the cache. Zero: only
	// responses of this Batch.
	AsOf time.Time
	// MovedAsOf is the same for the digests of tags in a list that did not change since: a
	// tag that was pushed again is found after it. It is not later than AsOf. Zero: AsOf.
	MovedAsOf time.Time
	// KeptAsOf is, without AsOf, the time with which responses are kept for MovedAsOf of later Batches.
	// Zero: they are not kept.
	KeptAsOf time.Time
	// InUse reports whether a version would be promoted nowhere. Only then is it selected as
	// of MovedAsOf. Nil: it is for none.
	InUse func(image.Version) bool
}

// listedIn returns the request for tags of a list, whose digests are as old as the list at
// most if that just changed.
func (r Request) listedIn(list listing) Request {
	switch {
	case r.MovedAsOf.IsZero() || list.changed.IsZero() || list.changed.After(r.keptAsOf()):
		r.MovedAsOf = r.AsOf
	case list.changed.After(r.MovedAsOf):
		r.MovedAsOf = list.changed
	}
	return r
}

// keptAsOf returns the time with which responses are kept; zero: they are not.
func (r Request) keptAsOf() time.Time {
	if r.AsOf.IsZero() {
		return r.KeptAsOf
	}
	return r.AsOf
}

// certain returns the request without digests that are older than the list.
func (r Request) certain() Request {
	r.MovedAsOf = r.AsOf
	return r
}

// Selection is the best version, or why there is none.
type Selection struct {
	Version image.Version
	Found   bool
	// Ineligible are the better versions that cannot be selected, best first.
	Ineligible []Ineligible
	// Skipped is how many tags could not be parsed.
	Skipped int
	// Incomplete reports that not everything was read. Nothing is found then, and a
	// later batch continues.
	Incomplete bool
	// Reason is why nothing is found.
	Reason string
	// NotSelected are the newest versions that the policy does not select, if they were
	// asked for.
	NotSelected []image.NotSelected
	// Spellings are other tags of the version, with and without a leading v, and the same digest.
	Spellings []string
	// Note is what users should know about the selection; empty: nothing.
	Note string
}

// Ineligible is a version that cannot be selected.
type Ineligible struct {
	Tag    string
	Digest string // empty: the tag has none
	Reason string
	Until  time.Time // when it becomes eligible; zero: not known
	// OtherKind is set if it is no version of the component: a chart among images, or the reverse.
	OtherKind bool
	// WronglySigned stops the selection: nothing older is selected, until users know why.
	WronglySigned bool
}

// maxNotSelected is how many versions that the policy does not select are returned.
const maxNotSelected = 3

// maxEvaluated is how many versions are evaluated to find an eligible one.
const maxEvaluated = 20

// maxOtherKind is how many versions of another kind are evaluated, such as the charts among
// images: each costs two requests, once.
const maxOtherKind = 200

// noImage is a tag that is listed, or announced, before its image exists, or that
// outlived it.
const noImage = "the registry has no image under this tag (yet)"

// Select returns the best version. A moving tag has only one: its publisher orders the
// versions, and whether it moved back is for the caller to decide.
func (v *View) Select(ctx context.Context, r Request) (Selection, error) {
	a, err := v.access(r.Repository)
	if err != nil {
		return Selection{}, err
	}
	if source, ok := r.Policy.Release(); ok {
		return Selection{}, fault.New(fault.Invalid, "the releases of %s are not in a registry", source)
	}
	if tag, ok := r.Policy.Moving(); ok {
		found, why, err := v.evaluate(ctx, a, r.certain(), image.Candidate{Tag: tag})
		switch {
		case err != nil:
			return Selection{}, err
		case why != nil:
			return Selection{Ineligible: []Ineligible{*why}, Reason: tag + ": " + why.Reason}, nil
		}
		return Selection{Version: found, Found: true}, nil
	}
	list, err := v.tags(ctx, a, r)
	if err != nil {
		return Selection{}, err
	}
	if err := budget.Spend(ctx, budget.Matching, r.Repository.String(), r.Policy.Cost(list.tags)); err != nil {
		return Selection{}, err
	}
	candidates := r.Policy.Candidates(list.tags)
	if list.incomplete != "" {
		return Selection{Incomplete: true, Reason: list.incomplete, Skipped: candidates.Skipped}, nil
	}
	r = r.listedIn(list)
	var selected Selection
	if r.Policy.NeedsCreated() {
		selected, err = v.newest(ctx, a, r, candidates.Ordered)
	} else {
		selected, err = v.firstEligible(ctx, a, r, candidates.Ordered)
	}
	selected.Skipped = candidates.Skipped
	if err == nil && selected.Found {
		selected.Note = trapNote(r.Policy, selected.Version.Tag, candidates.Ordered)
	}
	if r.Newer && err == nil {
		if err := budget.Spend(ctx, budget.Matching, r.Repository.String(), r.Policy.Cost(list.tags)); err != nil {
			return Selection{}, err
		}
		selected.NotSelected = r.Policy.NewerThan(selected.Version.Tag, list.tags, maxNotSelected)
	}
	if err != nil || selected.Found || selected.Reason != "" {
		return selected, err
	}
	switch {
	case len(list.tags) == 0:
		selected.Reason = "the registry lists no tags"
	case len(selected.Ineligible) > 0:
		selected.Reason = "no version is eligible yet: " + selected.Ineligible[0].Tag + ": " + selected.Ineligible[0].Reason
	default:
		selected.Reason = fmt.Sprintf("none of %d tags matches: %s", len(list.tags), r.Policy.Unselected(list.tags))
	}
	return selected, nil
}

// trapNote returns what users should know if numbers are compared as text.
func trapNote(policy *image.Policy, selected string, candidates []image.Candidate) string {
	tags := make([]string, len(candidates))
	for i, c := range candidates {
		tags[i] = c.Tag
	}
	trap := policy.LexicalTrap(selected, tags)
	if trap == "" {
		return ""
	}
	const format = "%s is older than %s, because numbers after letters are compared as text: use rc.9 and rc.10, or numeric"
	return fmt.Sprintf(format, trap, selected)
}

// firstEligible selects the first candidate that is eligible.
func (v *View) firstEligible(ctx context.Context, a *access, r Request, candidates []image.Candidate) (Selection, error) {
	var s Selection
	others := 0 // versions of another kind
	for i, c := range candidates {
		if len(s.Ineligible) == maxEvaluated {
			s.Incomplete = true
			s.Reason = fmt.Sprintf("the best %d versions are not eligible; older ones are not evaluated: %s: %s",
				maxEvaluated, s.Ineligible[0].Tag, s.Ineligible[0].Reason)
			return s, nil
		}
		found, why, err := v.evaluate(ctx, a, r, c)
		if err == nil && why == nil && (r.InUse == nil || !r.InUse(found)) {
			found, why, err = v.evaluate(ctx, a, r.certain(), c) // it may be promoted now
		}
		if err != nil {
			return Selection{}, err
		}
		if why == nil {
			s.Version, s.Found = found, true
			s.Spellings, err = v.spellings(ctx, a, r, found, candidates[i+1:])
			return s, err
		}
		if why.OtherKind {
			if others++; others == maxOtherKind {
				s.Incomplete = true
				s.Reason = fmt.Sprintf("the best %d versions are of another kind: %s: %s; use filter", others, why.Tag, why.Reason)
				return s, nil
			}
			if others > 1 { // one shows them all
				continue
			}
		}
		s.Ineligible = append(s.Ineligible, *why)
		if why.WronglySigned {
			s.Reason = why.Tag + ": " + why.Reason
			return s, nil
		}
		if r.ageUnknown() {
			return s, nil // that of every other version is unknown too
		}
	}
	return s, nil
}

// spellings returns the tag of a version that differs only in the leading v, if it has the same
// digest: files may have its style. The candidates are those after the version.
func (v *View) spellings(
	ctx context.Context, a *access, r Request, selected image.Version, candidates []image.Candidate,
) ([]string, error) {
	i := slices.IndexFunc(candidates, func(c image.Candidate) bool { return image.SameVersion(c.Tag, selected.Tag) })
	if i < 0 {
		return nil, nil
	}
	digest, err := v.digest(ctx, a, candidates[i].Tag, r)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return nil, nil
	case err != nil || digest != selected.Digest:
		return nil, err
	default:
		return []string{candidates[i].Tag}, nil
	}
}

// evaluate returns the version of a candidate, or why it is not eligible.
func (v *View) evaluate(ctx context.Context, a *access, r Request, c image.Candidate) (image.Version, *Ineligible, error) {
	digest, err := v.digest(ctx, a, c.Tag, r)
	if fault.KindOf(err) == fault.NotFound {
		return image.Version{}, &Ineligible{Tag: c.Tag, Reason: noImage}, nil
	}
	if err != nil {
		return image.Version{}, nil, err
	}
	why := Ineligible{Tag: c.Tag, Digest: digest}
	found, err := metadata{}, error(nil)
	if !r.digestSuffices(c) {
		found, err = v.describe(ctx, a, digest, r.Platforms)
	} else if r.Artifact != "" && (r.Present == nil || !r.Present(c.Tag)) {
		found.Kind, err = v.kind(ctx, a, digest)
	}
	if fault.KindOf(err) == fault.NotFound {
		why.Reason = err.Error()
		return image.Version{}, &why, nil
	}
	if err != nil {
		return image.Version{}, nil, err
	}
	if why.Reason = otherKind(r.Artifact, found.Kind); why.Reason != "" {
		why.OtherKind = true
		return image.Version{}, &why, nil
	}
	if why.Reason = r.unmet(found); why.Reason == "" {
		why.Reason, why.Until = r.tooYoung(digest, v.batch.client.options.Now())
	}
	if why.Reason != "" {
		return image.Version{}, &why, nil
	}
	signed, err := v.signature(ctx, a, digest, r.Signed, r.AsOf)
	if err != nil {
		return image.Version{}, nil, err
	}
	if signed.Problem != "" {
		why.Reason, why.WronglySigned = signed.Problem, signed.Wrong
		return image.Version{}, &why, nil
	}
	version := found.version(digest)
	version.Signature = signed
	version.Tag, version.Version = c.Tag, cmp.Or(c.Version, version.Version)
	return version, nil, nil
}

// otherKind returns why a version of one kind is none of a component that follows another. Only what
// is certain counts: many artifacts have no kind.
func otherKind(wanted, found image.Artifact) string {
	switch {
	case wanted == image.ArtifactImage && found == image.ArtifactChart:
		return "it is a Helm chart, and the component follows an image"
	case wanted == image.ArtifactChart && (found == image.ArtifactImage || found == image.ArtifactOther):
		return "it is no Helm chart, and the component follows a chart"
	default:
		return ""
	}
}

// digestSuffices reports whether nothing else of a candidate is needed.
func (r Request) digestSuffices(c image.Candidate) bool {
	return r.DigestOnly && c.Version != "" && len(r.Platforms) == 0 && !r.Policy.NeedsCreated()
}

// unmet returns which requirement a digest does not meet.
func (r Request) unmet(m metadata) string {
	if m.Opaque != "" && (len(r.Platforms) > 0 || r.Policy.NeedsCreated()) {
		return m.Opaque
	}
	available := m.platforms()
	var missing []string
	for _, platform := range r.Platforms {
		if !slices.ContainsFunc(available, func(have string) bool { return runsOn(platform, have) }) {
			missing = append(missing, platform)
		}
	}
	if len(missing) > 0 {
		list := "none that it names"
		if len(available) > 0 {
			list = strings.Join(available, ", ")
		}
		return fmt.Sprintf("no image for %s; there is %s", strings.Join(missing, ", "), list)
	}
	if r.Policy.NeedsCreated() && !image.KnownCreated(m.Created) {
		return undated(m.Created)
	}
	return ""
}

// undated explains a created time without meaning: reproducible builds use a fixed one.
func undated(created time.Time) string {
	if created.IsZero() {
		return "it has no created time, so it cannot be the newest"
	}
	return "its created time is in " + created.UTC().Format("2006") + ", which is a fixed stamp, so it cannot be the newest: " +
		"use numeric, semver or a moving tag"
}

// ageUnknown reports whether the age of no version can be known.
func (r Request) ageUnknown() bool { return r.MinAge > 0 && r.FirstSeen == nil }

// tooYoung returns why a digest is not old enough, and until when.
func (r Request) tooYoung(digest string, now time.Time) (string, time.Time) {
	if r.MinAge <= 0 {
		return "", time.Time{}
	}
	if r.ageUnknown() {
		return fmt.Sprintf("minAge %s: when it became available is not known here, and its build time proves nothing",
			r.MinAge), time.Time{}
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
