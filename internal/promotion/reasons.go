package promotion

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/state"
)

// The reasons of decisions. They contain no current time: as long as nothing
// changes, their text does not change either.

func absent(target Target) Reason {
	return Reason{Rule: RuleAbsent, Message: fmt.Sprintf("%s has no files in %s", target.Application, target.Environment)}
}

func noReference(upstream Snapshot) Reason {
	message := "no reference to a followed component"
	if len(upstream) > 0 {
		message += "; upstream has " + upstream.String()
	}
	return Reason{Rule: RuleNoReference, Message: message}
}

// nowhereUpstream is the reason of a target whose application exists in no upstream
// environment.
func nowhereUpstream(application string) Reason {
	return Reason{Rule: RuleAbsent, Message: fmt.Sprintf("no upstream environment has files of %s", application)}
}

// unknownUpstream is the reason of a target whose source has no usable files.
func unknownUpstream(environment string, refusals []edit.Refusal) Reason {
	if len(refusals) > 0 {
		return Reason{Rule: RuleRefused, Message: fmt.Sprintf("the versions of %s are unknown: %s", environment, refusals[0])}
	}
	return Reason{Rule: RuleNoReference, Message: environment + " has no reference to a followed component"}
}

// RefusedBy is the reason of a target with files that cannot be written.
func RefusedBy(refusals []edit.Refusal) Reason {
	message := refusals[0].String()
	if more := len(refusals) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more)", more)
	}
	return Reason{Rule: RuleRefused, Message: message}
}

// noLongerFollowed is the reason of a pull request for components that left the config,
// or to which no file refers any more. The other components of the target do not differ.
func noLongerFollowed(in *input, components []string) Reason {
	why := "no file here references "
	if _, found := in.obs.Config.Component(components[0]); !found {
		why = "the config has no component "
	}
	return Reason{Rule: RuleGone, Message: why + strings.Join(components, ", ") + " any more, and nothing else differs"}
}

// AlreadySame is the reason of a target in which nothing differs.
func AlreadySame() Reason { return Reason{Rule: RuleSame, Message: "already up to date"} }

// sameAsUpstream is the reason of a target that differs from its sources in nothing. Of a
// component that no source references, that is not known.
func sameAsUpstream(in *input) Reason {
	var missing []string
	for _, ref := range in.refs {
		if !slices.ContainsFunc(in.sources, func(source Target) bool {
			_, there := in.ix.ref(source, ref.component)
			return there
		}) {
			missing = append(missing, ref.component)
		}
	}
	why := AlreadySame()
	switch text := "no upstream environment references " + strings.Join(missing, ", "); len(missing) {
	case 0:
	case len(in.refs):
		why.Message = text
	default:
		why.Message += "; " + text
	}
	return why
}

func alreadyNewer(component string, current, available image.Version) Reason {
	return Reason{Rule: RuleSame, Message: fmt.Sprintf("already at %s %s, which is newer than %s",
		component, Label(current), Label(available))}
}

// afterPosted is the reason of a posted version that the available one may be older than.
func afterPosted(component string, current, available image.Version) Reason {
	return Reason{Rule: RuleSame, Message: fmt.Sprintf("a pipeline posted %s %s, and %s is not known to be newer",
		component, Label(current), Label(available))}
}

// noVersion is the reason of a component without an available version.
func noVersion(component string, available Available) Reason {
	if available.Reason == "" {
		return Reason{}
	}
	return Reason{Rule: RuleNoVersion, Message: component + ": " + available.Reason}
}

// noAnswer is the reason of a component whose registry did not answer.
func noAnswer(component string, err error) Reason {
	until, _ := fault.RetryAt(err)
	return Reason{Rule: RuleRegistry, Message: fmt.Sprintf("%s: %v", component, err), Until: until}
}

// rewritten is the reason of versions that are there, and must be written in another form.
func rewritten(moves []Move) Reason { return Reason{Rule: RuleForm, Message: movesText(moves)} }

// selectedMoves is the reason of versions from registries, or that a user named.
func selectedMoves(moves []Move, explicit bool) Reason {
	if explicit {
		return Reason{Rule: RuleRequested, Message: "requested: " + movesText(moves)}
	}
	return Reason{Rule: RuleNewer, Message: "newer: " + movesText(moves)}
}

func requestedBy(moves []Move, request state.Request) Reason {
	return Reason{Rule: RuleRequested, Message: fmt.Sprintf("requested by %s: %s", actor(request.Act), movesText(moves))}
}

// nothingRequested is the reason of a request for versions that no file refers to.
func nothingRequested(request state.Request) Reason {
	return Reason{Rule: RuleRequested, Message: fmt.Sprintf("%s requested %s, which no file here references",
		actor(request.Act), strings.Join(request.With, ", "))}
}

// fromUpstream is the reason of what the sources have, or had in the past.
func fromUpstream(sources []Target, moves []Move, past bool) Reason {
	if onlyForm(moves) {
		return rewritten(moves)
	}
	names := make([]string, 0, len(sources))
	for _, source := range sources {
		names = append(names, source.Environment)
	}
	verb := " has: "
	switch {
	case past:
		verb = " had: "
	case len(names) > 1:
		verb = " have: "
	}
	return Reason{Rule: RuleParent, Message: strings.Join(names, " and ") + verb + movesText(moves)}
}

func parentsDiffer(component, a string, inA image.Version, b string, inB image.Version) Reason {
	return Reason{Rule: RuleParentsDiffer, Message: fmt.Sprintf("the upstream environments differ: %s %s in %s, %s in %s",
		component, Label(inA), a, Label(inB), b)}
}

func disagrees(environment string, ref currentRef) Reason {
	labels := make([]string, 0, len(ref.versions))
	for _, v := range ref.versions {
		labels = append(labels, Label(v))
	}
	slices.Sort(labels)
	return Reason{Rule: RuleParentsDiffer, Message: fmt.Sprintf("%s has several versions of %s: %q",
		environment, ref.component, slices.Compact(labels))}
}

func digestUnknown(environment, component string, v image.Version) Reason {
	return Reason{Rule: RuleDigestUnknown, Message: fmt.Sprintf("digest unknown: %s references %s by the moving tag %s without a digest",
		environment, component, v.Tag)}
}

// digestUnrecorded is the reason of a tag in a source whose digest no commit records, and
// the registry did not return either.
func digestUnrecorded(in *input, environment string, ref currentRef, v image.Version) Reason {
	if now, known := in.obs.Facts[Fact{Repository: ref.repository, Tag: v.Tag}]; known && isMissing(now) {
		return Reason{Rule: RuleDigestUnknown, Message: fmt.Sprintf("image missing: %s references %s %s, which is not in the registry",
			environment, ref.component, v.Tag)}
	}
	return Reason{Rule: RuleDigestUnknown, Message: fmt.Sprintf("digest unknown: %s references %s by the tag %s, and the registry gave no answer",
		environment, ref.component, v.Tag)}
}

// FalseClaim is the note about a commit whose files contradict its trailers.
func FalseClaim(why string) Reason { return Reason{Rule: RuleFalseClaim, Message: why} }

func backwards(component string, from, to image.Version) Reason {
	return Reason{Rule: RuleBackwards, Message: "would move back: " + Move{Component: component, From: from, To: to}.String()}
}

func movedBack(component string, from, to image.Version) Reason {
	return Reason{Rule: RuleBackwards, Message: "moved back: " + Move{Component: component, From: from, To: to}.String()}
}

// heldBy is the reason of a target that a user put on hold or froze.
func heldBy(held state.Held) Reason {
	if held.Problem != "" {
		return Reason{Rule: RuleHeld, Message: fmt.Sprintf("on hold: the record of %s on %s cannot be read: %s", held.Target, state.Branch, held.Problem)}
	}
	r := Reason{Rule: RuleHeld, Message: "on hold by ", Scope: held.Target}
	if held.Freeze {
		r.Rule, r.Message = RuleFrozen, held.Target.String()+" is frozen by "
	}
	r.Message += actor(held.Act) + " since " + day(held.At) + because(held.Act)
	if held.Until != nil {
		r.Until = held.Until.UTC()
	}
	return r
}

func rejectedText(move Move, r state.Rejection) string {
	text := fmt.Sprintf("%s was rejected by %s on %s", targetsText(move), actor(r.Act), day(r.At))
	if r.Number != 0 {
		text += fmt.Sprintf(" (#%d)", r.Number)
	}
	return text + because(r.Act)
}

func revertedBefore(move Move, reverted Reversion) Reason {
	message := targetsText(move) + " was here before and was reverted"
	if reverted.Commit != "" {
		message += " (commit " + reverted.Commit[:min(len(reverted.Commit), shortHex)] + ")"
	}
	return Reason{Rule: RuleReverted, Message: message}
}

func rolledBack(moves []Move, back state.RolledBack) Reason {
	if back.Automatic {
		return Reason{Rule: RuleOnFailure, Message: fmt.Sprintf("rolled back%s: %s", because(back.Act), movesText(moves))}
	}
	return Reason{Rule: RuleRollback, Message: fmt.Sprintf("rolled back by %s on %s%s: %s",
		actor(back.Act), day(back.At), because(back.Act), movesText(moves))}
}

func rollbackInvalid(component, text string) Reason {
	return Reason{Rule: RuleRollback, Message: fmt.Sprintf("the rollback names %.200q for %s, which is not an image of this component", text, component)}
}

func rollbackNeverHere(component, text string) Reason {
	return Reason{Rule: RuleRollback, Message: fmt.Sprintf("the rollback names %.200q for %s, which was never here: use promote instead", text, component)}
}

// movesText lists moves as "web 1.4 -> 1.5, worker 2.0 -> 2.1".
func movesText(moves []Move) string { return list(moves, Move.String) }

// targetsText lists where moves lead, as "web 1.5, worker 2.1".
func targetsText(moves ...Move) string {
	return list(moves, func(m Move) string {
		to := Label(m.To)
		if to == Label(m.From) {
			to = ShortDigest(m.To.Digest)
		}
		return m.Component + " " + to
	})
}

func list[T any](all []T, text func(T) string) string {
	parts := make([]string, 0, len(all))
	for _, one := range all {
		parts = append(parts, text(one))
	}
	return strings.Join(parts, ", ")
}

func actor(act state.Act) string {
	if act.By.Login == "" {
		return "an unknown user"
	}
	return act.By.Login
}

func because(act state.Act) string {
	if act.Reason == "" {
		return ""
	}
	return ": " + act.Reason
}

func day(t time.Time) string    { return t.UTC().Format(time.DateOnly) }
func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }
