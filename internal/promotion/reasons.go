package promotion

import (
	"fmt"
	"slices"
	"strings"

	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
)

// Every reason is made here, so that the words are the same wherever the
// decision is printed.

func absent(target Target) Reason {
	return Reason{Rule: RuleAbsent, Message: fmt.Sprintf("%s has no files in %s", target.Application, target.Environment)}
}

func noReference(parent Snapshot) Reason {
	words := "the files hold no reference to a followed component"
	if len(parent) > 0 {
		words += "; the environment before has " + parent.String()
	}
	return Reason{Rule: RuleNoReference, Message: words}
}

// nowhereBefore is the reason of a place whose application no environment before
// it has.
func nowhereBefore(application string) Reason {
	return Reason{Rule: RuleAbsent, Message: fmt.Sprintf("no environment before has files of %s", application)}
}

// nothingIn is the reason of a place after one whose files tell nothing.
func nothingIn(environment string, refusals []edit.Refusal) Reason {
	if len(refusals) > 0 {
		return Reason{Rule: RuleRefused, Message: fmt.Sprintf("what %s holds is not known: %s", environment, refusals[0])}
	}
	return Reason{Rule: RuleNoReference, Message: environment + " holds no reference to a followed component"}
}

// holdsNewer is the reason of a component that is ahead of what is offered.
func holdsNewer(component string, present, offered image.Version) Reason {
	return Reason{Rule: RuleSame, Message: fmt.Sprintf("holds %s %s already, which is newer than %s",
		component, Label(present), Label(offered))}
}

func imageMissing(move Move) Condition {
	return Condition{
		Name: move.Component + " " + Label(move.To), State: Pending,
		Reason: "image missing: the registry has it no more",
	}
}

// notRechecked blocks where things are carried out: an incomplete answer proposes
// nothing.
func notRechecked(move Move) Condition {
	return Condition{
		Name: move.Component + " " + Label(move.To), State: Unknown,
		Reason: "the registry did not say whether it still is the same",
	}
}

func tagMoved(move Move, now image.Version) Condition {
	return Condition{
		Name: move.Component + " " + Label(move.To), State: Pending,
		Reason: fmt.Sprintf("tag moved: it points at %s now, not at %s", ShortDigest(now.Digest), ShortDigest(move.To.Digest)),
	}
}

// RefusedBy is the reason of a place that has files which cannot be written.
func RefusedBy(refusals []edit.Refusal) Reason {
	words := refusals[0].String()
	if more := len(refusals) - 1; more > 0 {
		words += fmt.Sprintf(" (and %d more)", more)
	}
	return Reason{Rule: RuleRefused, Message: words}
}

// noVersion is the reason of a component that nothing is offered for.
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

func newer(moves []Move) Reason {
	return Reason{Rule: RuleNewer, Message: "newer: " + movesInWords(moves)}
}

func given(moves []Move) Reason {
	return Reason{Rule: RuleGiven, Message: "asked for: " + movesInWords(moves)}
}

// fromParent is the reason of what the environments before hold, or did until
// another snapshot came there.
func fromParent(sources []Target, moves []Move, past bool) Reason {
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
	return Reason{Rule: RuleParent, Message: strings.Join(names, " and ") + verb + movesInWords(moves)}
}

// notEligible is the reason of a condition about a snapshot that an environment
// never held.
func notEligible(source Target) string {
	return "not eligible in " + source.Environment + ": it never stood there"
}

func digestUntold(environment, component string, v image.Version) Reason {
	return Reason{Rule: RuleDigestUnknown, Message: fmt.Sprintf("digest unknown: %s holds %s as the tag %s, and no commit tells which digest that was",
		environment, component, v.Tag)}
}

func backwards(component string, from, to image.Version) Reason {
	return Reason{Rule: RuleBackwards, Message: "would move back: " + Move{component, from, to}.String()}
}

func movedBack(component string, from, to image.Version) Reason {
	return Reason{Rule: RuleBackwards, Message: "moved back: " + Move{component, from, to}.String()}
}

// AlreadySame is the reason of a place in which nothing differs.
func AlreadySame() Reason {
	return Reason{Rule: RuleSame, Message: "holds this already"}
}

func BlockedBy(c Condition) Reason {
	r := Reason{Rule: RuleCondition, Message: c.Name}
	if c.Reason != "" {
		r.Message += ": " + c.Reason
	}
	if c.Until != nil {
		r.Until = *c.Until
	}
	return r
}

// movesInWords lists the moves as "web 1.4 -> 1.5, worker 2.0 -> 2.1".
func movesInWords(moves []Move) string {
	parts := make([]string, 0, len(moves))
	for _, m := range moves {
		parts = append(parts, m.String())
	}
	return strings.Join(parts, ", ")
}

// targetsInWords lists where the moves lead, as "web 1.5, worker 2.1".
func targetsInWords(moves []Move) string {
	parts := make([]string, 0, len(moves))
	for _, m := range moves {
		to := Label(m.To)
		if to == Label(m.From) {
			to = ShortDigest(m.To.Digest)
		}
		parts = append(parts, m.Component+" "+to)
	}
	return strings.Join(parts, ", ")
}

// String says the move in words; two digests of one tag are told apart.
func (m Move) String() string {
	from, to := Label(m.From), Label(m.To)
	if from == to {
		from, to = ShortDigest(m.From.Digest), ShortDigest(m.To.Digest)
	}
	if from == "" {
		return m.Component + " -> " + to
	}
	return m.Component + " " + from + " -> " + to
}

func parentsDiffer(component, a string, inA image.Version, b string, inB image.Version) Reason {
	return Reason{Rule: RuleParentsDiffer, Message: fmt.Sprintf("the environments before differ: %s %s in %s, %s in %s",
		component, Label(inA), a, Label(inB), b)}
}

func disagrees(environment string, s standing) Reason {
	labels := make([]string, 0, len(s.versions))
	for _, v := range s.versions {
		labels = append(labels, Label(v))
	}
	slices.Sort(labels)
	return Reason{Rule: RuleParentsDiffer, Message: fmt.Sprintf("%s holds several versions of %s: %q",
		environment, s.component, slices.Compact(labels))}
}

func digestUnknown(environment, component string, v image.Version) Reason {
	return Reason{Rule: RuleDigestUnknown, Message: fmt.Sprintf("digest unknown: %s holds %s as the moving tag %s without its digest",
		environment, component, v.Tag)}
}
