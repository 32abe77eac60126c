package promotion

import (
	"fmt"
	"time"

	"promoter/internal/edit"
	"promoter/internal/state"
)

// Rule identifies why a decision is as it is, for code that reads decisions.
type Rule string

// The rules.
const (
	RuleNewer         Rule = "newer"          // a newer version is available
	RuleParent        Rule = "parent"         // the parent environment has another version
	RuleForm          Rule = "form"           // the version is there, and must be written in another form
	RuleRequested     Rule = "requested"      // a user requested the version
	RuleRequestEnded  Rule = "request-ended"  // what a user requested can no longer come
	RuleSame          Rule = "same"           // nothing differs
	RuleAbsent        Rule = "absent"         // no files
	RuleNoReference   Rule = "no-reference"   // files without a reference
	RuleLine          Rule = "line"           // a version is of another line than the component
	RuleScheme        Rule = "scheme"         // a version may be of another scheme
	RuleBackwards     Rule = "backwards"      // it would move a component back
	RuleParentsDiffer Rule = "parents-differ" // the parents have different versions
	RuleSameVersion   Rule = "same-version"   // the components have different versions
	RuleCondition     Rule = "condition"      // a condition blocks
	RulePropose       Rule = "propose"        // the propose mode requires a request, or forbids it
	RuleDigestUnknown Rule = "digest-unknown" // the digest behind a tag is unknown
	RuleNoVersion     Rule = "no-version"     // the registry has no version to select
	RuleRegistry      Rule = "registry"       // the registry did not answer
	RuleRefused       Rule = "refused"        // a file cannot be written
	RuleBranch        Rule = "branch"         // the branch is not available
	RuleHeld          Rule = "held"           // a user put the target on hold
	RuleFrozen        Rule = "frozen"         // a user froze the environment or the repository
	RuleRejected      Rule = "rejected"       // a user rejected a version of it
	RuleReverted      Rule = "reverted"       // a user reverted a version of it
	RuleRollback      Rule = "rollback"       // a user requested the previous versions
	RuleLeftUpstream  Rule = "left-upstream"  // an upstream environment is rolled back from a version of it
	RuleLimit         Rule = "limit"          // the limit of open pull requests is reached
	RuleForge         Rule = "forge"          // the repository has no pull requests
	RuleForeign       Rule = "foreign"        // a user works on promoter's branch
	RuleGate          Rule = "gate"           // a gate blocks
	RuleFalseClaim    Rule = "false-claim"    // files contradict the trailers of a commit
	RuleHealth        Rule = "health"         // what runs, beside what the files have
	RuleFailed        Rule = "failed"         // what landed is not healthy
	RuleOnFailure     Rule = "on-failure"     // what landed failed: the environment returns to the versions of before
	RuleStuck         Rule = "stuck"          // it cannot land until a user changes something, see Obstacle
	RuleGone          Rule = "gone"           // the target no longer exists, or lands another way
)

// Reason is why a decision is as it is: the rule for code, the message for users,
// and the time at which it may change by itself if that is known.
type Reason struct {
	Rule    Rule
	Message string
	Until   time.Time
	Scope   state.Target // of a hold, a freeze, or a rollback upstream: the target whose record has it
}

// Reasonf returns a reason with a formatted message.
func Reasonf(rule Rule, format string, args ...any) Reason {
	return Reason{Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// String returns the message.
func (r Reason) String() string { return r.Message }

// AlreadySame is the reason of a target in which nothing differs.
func AlreadySame() Reason { return Reason{Rule: RuleSame, Message: "already up to date"} }

// RefusedBy is the reason of a target with files that cannot be written.
func RefusedBy(refusals []edit.Refusal) Reason {
	message := refusals[0].String()
	if more := len(refusals) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more)", more)
	}
	return Reason{Rule: RuleRefused, Message: message}
}

// FalseClaim is the note about a commit whose files contradict its trailers.
func FalseClaim(why string) Reason { return Reason{Rule: RuleFalseClaim, Message: why} }

// BlockedBy is the reason of what a condition blocks.
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
