// Package explain answers why a version is not in an environment: what blocks the next step
// of a target, and what a user can do about it. It is pure: the command line, comments, and
// simulations show the same values.
package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
	"promoter/internal/state"
)

// Kind is what blocks.
type Kind string

// The kinds.
const (
	Condition Kind = "condition" // of after: nothing is proposed
	Gate      Kind = "gate"      // it is proposed and does not land
	Merge     Kind = "merge"     // a user has to merge the pull request
	Decision  Kind = "decision"  // of a user: a hold, a freeze, a rejection, a rollback, a revert
	Request   Kind = "request"   // the propose mode requires one, or forbids promotions
	Failure   Kind = "failure"   // a file, a registry, a branch, or the forge
	Versions  Kind = "versions"  // what the registry or the upstream environments have
)

// Blocker is the first thing that keeps a target from its next step.
type Blocker struct {
	Kind   Kind                     `json:"kind"`
	Name   string                   `json:"name,omitempty"` // of a condition or gate
	State  promotion.ConditionState `json:"state"`
	Reason string                   `json:"reason,omitempty"`
	Value  string                   `json:"value,omitempty"` // of a condition or gate: the required one
	Until  *time.Time               `json:"until,omitempty"` // when it ends by itself, if known
	Advice string                   `json:"advice,omitempty"`
}

// String describes what blocks on one line, without the advice.
func (b Blocker) String() string {
	text := b.Reason
	if b.Name != "" {
		text = strings.TrimSuffix(b.Name+": "+b.Reason, ": ")
		if b.Value != "" {
			text = strings.TrimSuffix(b.Name+" "+b.Value+": "+b.Reason, ": ")
		}
	}
	if b.Until != nil {
		text += ", until " + b.Until.UTC().Format(time.RFC3339)
	}
	return text
}

// Blocking returns what keeps a target from its next step; false: nothing differs, or nothing
// blocks. The proposals are those of the plan that the decision belongs to.
func Blocking(d promotion.Decision, proposals []propose.Proposal) (Blocker, bool) {
	switch d.State {
	case promotion.Same, promotion.Absent:
		return Blocker{}, false
	case promotion.Proposed, promotion.Stuck:
		if o := d.Obstacle; o != nil && o.Cause != promotion.CauseCheck { // a check is a gate
			return Blocker{Kind: Failure, State: promotion.Blocked, Reason: o.Message, Advice: o.Remedy}, true
		}
		i := slices.IndexFunc(proposals, func(p propose.Proposal) bool {
			return slices.ContainsFunc(p.Decisions, func(other promotion.Decision) bool { return other.Target == d.Target })
		})
		if i < 0 {
			return Blocker{}, false
		}
		return landing(d, proposals[i])
	}
	b := blockerOf(d, d.Reason)
	if condition, blocked := promotion.FirstBlocking(d.Conditions, false); blocked && d.Reason.Rule == promotion.RuleCondition {
		for _, one := range d.Conditions { // the one that the reason names
			if promotion.BlockedBy(one).Message == d.Reason.Message {
				condition = one
				break
			}
		}
		b.Name = condition.Name
		b.State = condition.State
		b.Reason = condition.Reason
		b.Value = condition.Value
		b.Until = condition.Until
		b.Advice = adviceForCondition(d, condition)
	}
	if b.Kind == Failure {
		b.State = promotion.Failed
	}
	return b, true
}

// blockerOf returns a reason as what blocks a decision.
func blockerOf(d promotion.Decision, reason promotion.Reason) Blocker {
	return Blocker{
		Kind:   kindOf(reason.Rule),
		State:  promotion.Pending,
		Reason: reason.Message,
		Until:  known(reason.Until),
		Advice: advice(d),
	}
}

// landing returns what keeps a proposed version from landing.
func landing(d promotion.Decision, p propose.Proposal) (Blocker, bool) {
	at := "the pull request"
	if p.Open != nil {
		at = fmt.Sprintf("pull request #%d", p.Open.Number)
		if p.Open.Foreign != "" {
			return Blocker{
				Kind: Failure, State: promotion.Blocked, Reason: at + " is left alone: " + p.Open.Foreign,
				Advice: "undo that, or delete its branch",
			}, true
		}
	}
	if gate, blocked := promotion.FirstBlocking(p.Gates, false); blocked {
		i := slices.IndexFunc(p.Gates, func(gate promotion.Condition) bool { return gate.Obstacle != nil && gate.Blocks(false) })
		if i >= 0 { // whatever becomes of the others
			gate = p.Gates[i]
			gate.Reason = gate.Obstacle.Message
		}
		return Blocker{
			Kind: Gate, Name: gate.Name, State: gate.State, Reason: gate.Reason, Value: gate.Value, Until: gate.Until,
			Advice: adviceForGate(gate, at),
		}, true
	}
	if p.Step == propose.StepWait {
		return blockerOf(d, p.Reason), true
	}
	if p.Environment.Land == setting.LandPR {
		return Blocker{Kind: Merge, State: promotion.Pending, Reason: "a user merges " + at, Advice: "review and merge " + at}, true
	}
	return Blocker{}, false
}

// behindOpen returns why newer versions wait behind what is open, and what a user can do; false: none do.
func behindOpen(d promotion.Decision) (Blocker, bool) {
	newer, waits := d.NewerWaits()
	if !waits {
		return Blocker{}, false
	}
	b := Blocker{
		Kind: Gate, State: newer.State, Reason: newer.Reason, Until: newer.Until,
		Advice: "merge or close the pull request",
	}
	if newer.Until != nil { // its checks run
		b.Advice = "merge or close the pull request; with 'newer: queue', newer versions wait until then, " +
			"with 'pullRequest: {waitForChecks: 0}' they replace it at once"
	}
	return b, true
}

func known(until time.Time) *time.Time {
	if until.IsZero() {
		return nil
	}
	until = until.UTC()
	return &until
}

func kindOf(rule promotion.Rule) Kind {
	switch rule {
	case promotion.RuleCondition, promotion.RuleSameVersion:
		return Condition
	case promotion.RuleGate, promotion.RuleLimit:
		return Gate
	case promotion.RuleHeld, promotion.RuleFrozen, promotion.RuleRejected,
		promotion.RuleReverted, promotion.RuleRollback, promotion.RuleOnFailure, promotion.RuleLeftUpstream:
		return Decision
	case promotion.RulePropose, promotion.RuleRequested:
		return Request
	case promotion.RuleRegistry, promotion.RuleRefused, promotion.RuleBranch,
		promotion.RuleForge, promotion.RuleForeign, promotion.RuleNoReference, promotion.RuleLine, promotion.RuleStuck:
		return Failure
	default:
		return Versions
	}
}

// advice returns what a user can do about the reason of a decision; empty: nothing but wait.
func advice(d promotion.Decision) string {
	target := " --env " + d.Environment + d.ApplicationFlag()
	switch d.Reason.Rule {
	case promotion.RuleHeld:
		return "'promoter resume" + scope(d.Reason.Scope, target) + "' ends it"
	case promotion.RuleFrozen:
		if d.Reason.Scope.Environment == state.All {
			return "'promoter thaw --all' ends it"
		}
		return "'promoter thaw --env " + cmp.Or(d.Reason.Scope.Environment, d.Environment) + "' ends it"
	case promotion.RuleRejected, promotion.RuleReverted:
		if d.State == promotion.Waiting && d.Reason.Rule == promotion.RuleRejected { // a bot blocks it
			return "reopen the pull request and merge it, write the versions by hand, or allow them with 'promoter unreject" +
				versions(d.Moves) + wholeScope(d.Reason.Scope, target) + "'"
		}
		return "a newer version proceeds; 'promoter unreject" + versions(d.Moves) + wholeScope(d.Reason.Scope, target) +
			"' allows this one again"
	case promotion.RuleLeftUpstream:
		return "a newer version proceeds; 'promoter resume --env " + d.Reason.Scope.Environment + d.ApplicationFlag() +
			"' ends that rollback"
	case promotion.RuleRollback, promotion.RuleOnFailure:
		return "'promoter resume" + target + "' ends the rollback"
	case promotion.RulePropose:
		if strings.Contains(d.Reason.Message, string(setting.ProposeNever)) {
			return "write the versions by hand, or change propose in the config"
		}
		return "'promoter promote --to " + d.Environment + d.ApplicationFlag() + "' requests it"
	case promotion.RuleRefused:
		return "correct the file, exclude it in the config, or write '# promoter: ignore' in the line"
	case promotion.RuleNoReference:
		return "write a reference to a followed component into a file of this environment"
	case promotion.RuleLine:
		return "write a version of the selected form into the file, or follow this one with a component of its own"
	case promotion.RuleRegistry, promotion.RuleForge:
		return "'promoter doctor' checks the credentials and settings"
	case promotion.RuleBackwards, promotion.RuleScheme, promotion.RuleParentsDiffer, promotion.RuleDigestUnknown:
		return "'promoter promote --to " + d.Environment + d.ApplicationFlag() + " --with VERSION' requests a version by its name"
	case promotion.RuleLimit:
		return "merge or close one of the open pull requests, or raise pullRequest.limit"
	case promotion.RuleForeign:
		return "undo the commit on promoter's branch, or delete the branch"
	case promotion.RuleNoVersion:
		return "push a version that select selects, or change select in the config"
	default:
		return ""
	}
}

// versions names the versions of moves, as 'promoter unreject' reads them.
func versions(moves []promotion.Move) (names string) {
	for _, move := range moves {
		names += " " + move.Named()
	}
	return names
}

// wholeScope is scope for a command that is about all within the record.
func wholeScope(has state.Target, target string) string {
	if has.Application == state.All {
		return scope(has, target) + " --all"
	}
	return scope(has, target)
}

// scope returns the flags for the record that has a decision. A command about more than one
// target lists what it is about, and needs another flag: users see what they would end.
func scope(has state.Target, target string) string {
	switch {
	case has.Environment == state.All:
		return ""
	case has.Application == state.All:
		return " --env " + has.Environment
	default:
		return target
	}
}

func adviceForCondition(d promotion.Decision, c promotion.Condition) string {
	switch {
	case c.Until != nil:
		return "" // it passes by itself
	case strings.Contains(c.Name, " check "):
		return "run the check again on the landed commit"
	case strings.HasSuffix(c.Name, " drain"), strings.Contains(c.Name, " tagged"), c.State == promotion.Unknown:
		return ""
	case c.State == promotion.Failed || c.State == promotion.Blocked:
		return "a newer version may pass; " +
			"'promoter promote --to " + d.Environment + d.ApplicationFlag() + " --with VERSION' requests another one"
	default:
		return ""
	}
}

func adviceForGate(gate promotion.Condition, at string) string {
	switch {
	case gate.Obstacle != nil:
		return gate.Obstacle.Remedy
	case strings.HasPrefix(gate.Reason, promotion.ChangesRequested):
		return "settle the requested changes on " + at + ": who requested them has to approve, or to dismiss their review"
	case gate.Name == "approvals", gate.Name == "protection approvals":
		return "approve " + at
	case strings.HasPrefix(strings.TrimPrefix(gate.Name, "protection "), "check "):
		return "the check has to pass on " + at
	case strings.HasPrefix(gate.Name, "hold "):
		return "remove the hold from the file"
	case strings.HasPrefix(gate.Name, "windows "):
		return "" // it opens by itself
	case gate.Name == "draft":
		return "mark " + at + " as ready for review"
	case gate.Forge:
		return "meet the forge's rules for " + at
	default:
		return ""
	}
}
