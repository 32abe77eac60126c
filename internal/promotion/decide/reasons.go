package decide

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
	"promoter/internal/state"
)

// The reasons of decisions. They contain no current time: as long as nothing
// changes, their text does not change either.

func absent(target promotion.Target) promotion.Reason {
	return promotion.Reasonf(promotion.RuleAbsent, "%s has no files in %s", target.Application, target.Environment)
}

func noReference(current promotion.Current, upstream promotion.Snapshot) promotion.Reason {
	message := "no reference to a followed component"
	for i, f := range current.Foreign {
		if i == maxForeign {
			message += fmt.Sprintf("; and %d more", len(current.Foreign)-i)
			break
		}
		message += "; " + f.Reason
	}
	if len(upstream) > 0 {
		message += "; upstream has " + upstream.String()
	}
	return promotion.Reason{Rule: promotion.RuleNoReference, Message: message}
}

// maxForeign is how many references of other lines of versions a reason names.
const maxForeign = 3

// otherForm is the reason of a component whose files have another form than the selected version.
func otherForm(ref input.Ref, selected image.Version, why string) promotion.Reason {
	return promotion.Reasonf(promotion.RuleLine, "%s %s stays: %s, %s",
		ref.Component, promotion.Label(ref.Versions[0]), why, promotion.Label(selected))
}

// otherScheme is the reason of a version of another scheme, which only looks newer.
func otherScheme(in input.Target, ref input.Ref, selected image.Version) promotion.Reason {
	move := ref.Move(selected)
	const format = "%s may be another scheme of versions: 'promoter promote --to %s%s --with %s' confirms it, " +
		"and so does a range that begins there"
	return promotion.Reasonf(promotion.RuleScheme, format, move, in.Target.Environment, in.Target.ApplicationFlag(), move.Named())
}

// nowhereUpstream is the reason of a target whose application exists in no upstream
// environment.
func nowhereUpstream(application string) promotion.Reason {
	return promotion.Reasonf(promotion.RuleAbsent, "no upstream environment has files of %s", application)
}

// unknownUpstream is the reason of a target whose source has no usable files.
func unknownUpstream(environment string, refusals []edit.Refusal) promotion.Reason {
	if len(refusals) > 0 {
		return promotion.Reasonf(promotion.RuleRefused, "the versions of %s are unknown: %s", environment, refusals[0])
	}
	return promotion.Reason{Rule: promotion.RuleNoReference, Message: environment + " has no reference to a followed component"}
}

// noLongerFollowed is the reason of a pull request for components that left the config,
// or to which no file refers any more. The other components of the target do not differ.
func noLongerFollowed(c *config.Config, components []string) promotion.Reason {
	why := "no file here references "
	if _, found := c.Component(components[0]); !found {
		why = "the config has no component "
	}
	return promotion.Reason{Rule: promotion.RuleGone, Message: why + strings.Join(components, ", ") + " any more, and nothing else differs"}
}

// sameAsUpstream is the reason of a target that differs from its sources in nothing. Of a
// component that no source references, that is not known.
func sameAsUpstream(in input.Target) promotion.Reason {
	var missing []string
	for _, ref := range in.Refs {
		if !slices.ContainsFunc(in.Sources, func(source promotion.Target) bool {
			_, there := in.Others().Ref(source, ref.Component)
			return there
		}) {
			missing = append(missing, ref.Component)
		}
	}
	why := promotion.AlreadySame()
	switch text := "no upstream environment references " + strings.Join(missing, ", "); len(missing) {
	case 0:
	case len(in.Refs):
		why.Message = text
	default:
		why.Message += "; " + text
	}
	return why
}

func alreadyNewer(component string, current, available image.Version) promotion.Reason {
	return promotion.Reasonf(promotion.RuleSame, "already at %s %s, which is newer than %s",
		component, promotion.Label(current), promotion.Label(available))
}

// afterPosted is the reason of a posted version that the available one may be older than.
func afterPosted(component string, current, available image.Version) promotion.Reason {
	return promotion.Reasonf(promotion.RuleSame, "a pipeline posted %s %s, and %s is not known to be newer",
		component, promotion.Label(current), promotion.Label(available))
}

// noVersion is the reason of a component without an available version.
func noVersion(component string, available promotion.Available) promotion.Reason {
	if available.Reason == "" {
		return promotion.Reason{}
	}
	return promotion.Reason{Rule: promotion.RuleNoVersion, Message: component + ": " + available.Reason}
}

// noAnswer is the reason of a component whose registry did not answer.
func noAnswer(component string, err error) promotion.Reason {
	until, _ := fault.RetryAt(err)
	return promotion.Reason{Rule: promotion.RuleRegistry, Message: fmt.Sprintf("%s: %v", component, err), Until: until}
}

// rewritten is the reason of versions that are there, and must be written in another form.
func rewritten(moves []promotion.Move) promotion.Reason {
	return promotion.Reason{Rule: promotion.RuleForm, Message: promotion.MovesText(moves)}
}

// selectedMoves is the reason of versions from registries, or that a user named.
func selectedMoves(moves []promotion.Move, explicit bool) promotion.Reason {
	if explicit {
		return promotion.Reason{Rule: promotion.RuleRequested, Message: "requested: " + promotion.MovesText(moves)}
	}
	return promotion.Reason{Rule: promotion.RuleNewer, Message: "newer: " + promotion.MovesText(moves)}
}

func requestedBy(moves []promotion.Move, request state.Request) promotion.Reason {
	return promotion.Reasonf(promotion.RuleRequested, "requested by %s: %s", promotion.Actor(request.Act), promotion.MovesText(moves))
}

// nothingRequested is the reason of a request for versions that no file refers to.
func nothingRequested(request state.Request) promotion.Reason {
	return promotion.Reasonf(promotion.RuleRequested, "%s requested %s, which no file here references",
		promotion.Actor(request.Act), strings.Join(request.With, ", "))
}

// fromUpstream is the reason of what the sources have, or had in the past.
func fromUpstream(sources []promotion.Target, moves []promotion.Move, past bool) promotion.Reason {
	if promotion.OnlyForm(moves) {
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
	return promotion.Reason{Rule: promotion.RuleParent, Message: strings.Join(names, " and ") + verb + promotion.MovesText(moves)}
}

func parentsDiffer(component, a string, inA image.Version, b string, inB image.Version) promotion.Reason {
	return promotion.Reasonf(promotion.RuleParentsDiffer, "the upstream environments differ: %s %s in %s, %s in %s",
		component, promotion.Label(inA), a, promotion.Label(inB), b)
}

// digestUnrecorded is the reason of a tag in a source whose digest no commit records, and
// the registry did not return either.
func digestUnrecorded(in input.Target, environment string, ref input.Ref, v image.Version) promotion.Reason {
	if now, known := in.Registry().Facts[promotion.Fact{Repository: ref.Repository, Tag: v.Tag}]; known && promotion.IsMissing(now) {
		return promotion.Reasonf(promotion.RuleDigestUnknown, "image missing: %s references %s %s, which is not in the registry",
			environment, ref.Component, v.Tag)
	}
	return promotion.Reasonf(promotion.RuleDigestUnknown, "digest unknown: %s references %s by the tag %s, and the registry gave no answer",
		environment, ref.Component, v.Tag)
}

func backwards(component string, from, to image.Version) promotion.Reason {
	move := promotion.Move{Component: component, From: from, To: to}
	return promotion.Reason{Rule: promotion.RuleBackwards, Message: "would move back: " + move.String()}
}

// heldBy is the reason of a target that a user put on hold or froze.
func heldBy(at promotion.Target, held state.Held) promotion.Reason {
	if held.Problem != "" {
		return promotion.Reasonf(promotion.RuleHeld, "on hold: the record of %s on %s cannot be read: %s",
			held.Target, state.Branch, held.Problem)
	}
	r, decided := promotion.Reason{Rule: promotion.RuleHeld, Message: "on hold by ", Scope: held.Target}, "held"
	if held.Freeze {
		decided = "frozen"
		r.Rule, r.Message = promotion.RuleFrozen, held.Target.String()+" is frozen by "
	}
	r.Message += promotion.Actor(held.Act) + " since " + promotion.Day(held.At) + promotion.Because(held.Act)
	r.Message += promotion.AppliesText(decided, held.Applies, state.Target(at))
	if held.Until != nil {
		r.Until = held.Until.UTC()
	}
	return r
}

func rolledBack(moves []promotion.Move, back state.RolledBack) promotion.Reason {
	if back.Automatic {
		return promotion.Reasonf(promotion.RuleOnFailure, "rolled back%s: %s", promotion.Because(back.Act), promotion.MovesText(moves))
	}
	return promotion.Reasonf(promotion.RuleRollback, "rolled back by %s on %s%s: %s",
		promotion.Actor(back.Act), promotion.Day(back.At), promotion.Because(back.Act), promotion.MovesText(moves))
}

func rollbackInvalid(component, text string) promotion.Reason {
	return promotion.Reasonf(promotion.RuleRollback, "the rollback names %.200q for %s, which is not an image of this component",
		text, component)
}

func rollbackNeverHere(component, text string) promotion.Reason {
	return promotion.Reasonf(promotion.RuleRollback, "the rollback names %.200q for %s, which was never here: use promote instead",
		text, component)
}
