package outcome

import (
	"slices"

	"promoter/internal/promotion"
	"promoter/internal/promotion/propose"
)

// Awaited is what ends an effect that changed nothing.
type Awaited string

// What effects await.
const (
	AwaitsNothing  Awaited = ""             // nothing that is known: a defect of promoter
	AwaitsChange   Awaited = "change"       // it changed something, which is observed next
	AwaitsRetry    Awaited = "retry"        // it failed
	AwaitsTime     Awaited = "time"         // a time that is known, or a deferral
	AwaitsPull     Awaited = "pull request" // a review, check, push, merge, or close, here or of another one
	AwaitsUser     Awaited = "decision"     // of a user
	AwaitsFiles    Awaited = "files"        // a push, such as of the config
	AwaitsVersions Awaited = "versions"     // from a registry or a parent
	AwaitsHealth   Awaited = "health"       // a report
)

// awaitedBy returns what ends each rule that blocks.
var awaitedBy = map[promotion.Rule]Awaited{
	promotion.RuleRequestEnded: AwaitsUser, promotion.RulePropose: AwaitsUser, promotion.RuleHeld: AwaitsUser,
	promotion.RuleFrozen: AwaitsUser, promotion.RuleRejected: AwaitsUser, promotion.RuleReverted: AwaitsUser,
	promotion.RuleLeftUpstream: AwaitsUser, promotion.RuleRollback: AwaitsUser, promotion.RuleRequested: AwaitsUser,
	promotion.RuleAbsent: AwaitsFiles, promotion.RuleNoReference: AwaitsFiles, promotion.RuleRefused: AwaitsFiles,
	promotion.RuleBranch: AwaitsFiles, promotion.RuleForge: AwaitsFiles, promotion.RuleGone: AwaitsFiles,
	promotion.RuleFalseClaim: AwaitsFiles, promotion.RuleLine: AwaitsFiles, promotion.RuleForm: AwaitsFiles,
	promotion.RuleScheme: AwaitsUser,
	promotion.RuleNewer:  AwaitsVersions, promotion.RuleParent: AwaitsVersions, promotion.RuleSame: AwaitsVersions,
	promotion.RuleBackwards: AwaitsVersions, promotion.RuleParentsDiffer: AwaitsVersions, promotion.RuleSameVersion: AwaitsVersions,
	promotion.RuleDigestUnknown: AwaitsVersions, promotion.RuleNoVersion: AwaitsVersions, promotion.RuleRegistry: AwaitsVersions,
	promotion.RuleCondition: AwaitsVersions, promotion.RuleGate: AwaitsPull, promotion.RuleLimit: AwaitsPull,
	promotion.RuleForeign: AwaitsPull, promotion.RuleHealth: AwaitsHealth, promotion.RuleFailed: AwaitsHealth,
	promotion.RuleOnFailure: AwaitsHealth, promotion.RuleStuck: AwaitsPull,
}

// Awaits returns what makes a later reconciliation do more about an effect. What the forge, a
// registry, or a user does triggers one, or is found by the next poll.
func (e Effect) Awaits() Awaited {
	timed := func(c promotion.Condition) bool { return c.Until != nil }
	pullRequest := e.Open != nil && (e.Step == propose.StepPropose || e.Step == propose.StepKeep)
	switch {
	case e.Deferred && e.Err == nil: // although a text or a status changed
		return AwaitsTime
	case e.Action != ActionNone || e.Planned:
		return AwaitsChange
	case e.Err != nil:
		return AwaitsRetry
	case !e.Reason.Until.IsZero() || slices.ContainsFunc(e.Gates, timed):
		return AwaitsTime
	case e.Land, e.Step == propose.StepClose, e.Step == propose.StepPush:
		return AwaitsNothing // everything is met, and nothing was done
	case pullRequest:
		return AwaitsPull
	default:
		return awaitedBy[e.Reason.Rule]
	}
}
