package decide

import (
	"maps"
	"slices"
	"strings"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/state"
)

// A request is for the versions that the user saw, and for no others. It waits for conditions, gates, holds, and
// freezes as long as these versions can come, also if the sources have newer ones. When they can no longer come,
// the request ends, and the target is decided about as without it.

// isBound reports whether a request is for versions of the sources that a user saw. It is done when the target has them, not
// when the target has what the sources have now: these may have other versions, because the config changed.
func isBound(r *state.Request) bool { return r != nil && len(r.For) > 0 && len(r.With) == 0 }

// requestEnds returns why the versions of a request can no longer come. The decision is the one with the request.
// What is not known, such as what a registry does not answer, ends no request.
func requestEnds(in input.Target, d promotion.Decision) (promotion.Reason, bool) {
	if in.Request == nil || len(in.Request.For) == 0 || in.Checkout || d.State == promotion.NotCheckedOut {
		return promotion.Reason{}, false
	}
	in = in.For(parts[ofRequestEnd])
	for _, component := range slices.Sorted(maps.Keys(in.Request.For)) {
		if why, ends := requestedEnds(in, component); ends {
			return why, true
		}
	}
	switch {
	case d.Request != nil:
		return failedInPast(in)
	case len(in.Request.With) > 0:
		return promotion.Reason{}, false // see requestedEnds
	case len(in.Settings.After) == 0:
		return replacedInRegistry(in)
	default:
		return replacedInSources(in)
	}
}

// requestedEnds returns why one of the requested versions can no longer come, whatever the others are.
func requestedEnds(in input.Target, component string) (promotion.Reason, bool) {
	ref, found := in.RefOf(component)
	if !found {
		return promotion.Reasonf(promotion.RuleNoReference, "no file here references %s any more", component), true
	}
	wanted, known := input.Requested(in, component)
	if !known {
		return promotion.Reasonf(promotion.RuleRequested, "%.200q is not an image of %s", in.Request.For[component], component), true
	}
	move, moves := input.MoveTo(in, ref, wanted)
	if !moves {
		return promotion.Reason{}, false // it is there
	}
	if s, why, decided := input.UserDecisionOn(in, move); decided && !input.BlockedByBot(s, why) {
		return why, true
	}
	if len(in.Request.With) > 0 {
		now := in.Registry().Explicit[component]
		if now.Found && now.Err == nil && !promotion.SameRollout(now.Version, wanted) {
			const moved = "tag moved: %s %s now points to %s instead of %s"
			points, was := promotion.ShortDigest(now.Version.Digest), promotion.ShortDigest(wanted.Digest)
			return promotion.Reasonf(promotion.RuleRequested, moved, component, promotion.Label(wanted), points, was), true
		}
		return promotion.Reason{}, false
	}
	if current, newer := ref.NewerThan(wanted, in.Policies[component]); newer {
		return alreadyNewer(component, current, wanted), true
	}
	for _, source := range in.Sources {
		rejection, rejected := in.State().Rejected(state.Target(source), ref.Repository, wanted)
		if rejected && !rejection.Blocked && move.Form == "" {
			text := input.RejectedText(in.State(), source, move, rejection)
			return promotion.Reasonf(promotion.RuleRejected, "%s: %s", source.Environment, text), true
		}
	}
	return promotion.Reason{}, false
}

// failedInPast returns why the requested versions, which the sources had, can never pass their conditions there.
func failedInPast(in input.Target) (promotion.Reason, bool) {
	if len(in.Request.With) > 0 || len(in.Sources) == 0 {
		return promotion.Reason{}, false
	}
	c, found := requestedCandidate(in)
	if !found || !c.past {
		return promotion.Reason{}, false
	}
	i := slices.IndexFunc(c.conditions, func(c promotion.Condition) bool { return c.State == promotion.Failed })
	if i < 0 {
		return promotion.Reason{}, false
	}
	return promotion.BlockedBy(c.conditions[i]), true
}

// replacedInRegistry returns which newer version replaced what a request is for, where the newest one is taken from
// a registry.
func replacedInRegistry(in input.Target) (promotion.Reason, bool) {
	available := in.Registry().Available
	for _, component := range slices.Sorted(maps.Keys(in.Request.For)) {
		wanted, _ := input.Requested(in, component)
		now := available[component]
		if now.Err == nil && now.Found && !promotion.SameRollout(now.Version, wanted) {
			return promotion.Reasonf(promotion.RuleNewer, "the registry has %s %s", component, promotion.Label(now.Version)), true
		}
	}
	return promotion.Reason{}, false
}

// replacedInSources returns which versions the sources have instead of those of a request. As long as these are
// newer than what a source has, they can still come there.
func replacedInSources(in input.Target) (promotion.Reason, bool) {
	if _, found := requestedCandidate(in); found {
		return promotion.Reason{}, false // another version is decided about: it is newer, and passes
	}
	var instead []string
	for i, source := range in.Sources {
		now := input.Latest(in)[i][0]
		if now.Unclear != nil || len(in.Others().Refusals(source)) > 0 {
			return promotion.Reason{}, false // it is not known what is there
		}
		var others []string
		for n, ref := range in.Refs {
			wanted, known := input.Requested(in, ref.Component)
			there := now.Versions[n]
			switch {
			case !known, promotion.IsNone(there), promotion.SameRollout(wanted, there):
			case input.IsNewer(wanted, there, in.Policies[ref.Component]):
				return promotion.Reason{}, false
			default:
				others = append(others, ref.Component+" "+promotion.Label(there))
			}
		}
		if len(others) > 0 {
			instead = append(instead, source.Environment+" has "+strings.Join(others, ", "))
		}
	}
	if len(instead) == 0 {
		return promotion.Reason{}, false
	}
	return promotion.Reasonf(promotion.RuleParent, "%s", strings.Join(instead, "; ")), true
}

// requestedCandidate returns the newest snapshot of the sources that a request is for, whether or not it passes
// its conditions.
func requestedCandidate(in input.Target) (candidate, bool) {
	for _, source := range in.Sources {
		if len(in.Others().Refs(source)) == 0 {
			return candidate{}, false
		}
	}
	if len(in.Sources) == 0 {
		return candidate{}, false
	}
	all := newSourcePeriods(in, input.Periods(in))
	for i := range all.periods[0] {
		c := newCandidate(in, all, i)
		if c.why.Message == "" && len(c.moves) > 0 && input.RequestFor(in, c.moves) != nil {
			return c, true
		}
	}
	return candidate{}, false
}

// imagesText lists images by component, as "web 1.5, worker 2.1".
func imagesText(images map[string]string) string {
	var texts []string
	for _, component := range slices.Sorted(maps.Keys(images)) {
		if parsed, err := image.Parse(images[component]); err == nil {
			texts = append(texts, component+" "+promotion.Label(parsed.Version()))
		}
	}
	return strings.Join(texts, ", ")
}

// endedRequest is the note about a request that ended.
func endedRequest(act state.Act, images map[string]string, why string) promotion.Reason {
	const ended = "the request of %s for %s ended: %s"
	return promotion.Reasonf(promotion.RuleRequestEnded, ended, promotion.Actor(act), imagesText(images), why)
}
