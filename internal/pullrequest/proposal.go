package pullrequest

import (
	"promoter/internal/config"
	"promoter/internal/promotion"
)

// Step is what a pass does about one branch of ours.
type Step string

// The steps.
const (
	StepPropose Step = "propose" // write the branch and open or refresh its pull request
	StepPush    Step = "push"    // commit straight to the environment's branch
	StepKeep    Step = "keep"    // leave the open pull request as it is: no new head, no close
	StepClose   Step = "close"   // close the open pull request, with the reason
	StepWait    Step = "wait"    // nothing is open, and nothing may be proposed
)

// Proposal is what one pull request, or one commit, is to carry: the decisions of
// one application in one environment, or of all that are ready in a group.
type Proposal struct {
	Environment config.Environment // as it holds for the first application
	Head        string             // our branch; empty: it is pushed, or waits to be
	Base        string             // the environment's branch; empty: the default one
	Group       bool
	// Decisions are those that it carries, or that wait for it, sorted by
	// application. None: nothing speaks of what is open any more.
	Decisions []promotion.Decision
	Open      *promotion.Open // the pull request that stands; nil: none
	Step      Step
	// Reason is why it is proposed, or why it waits, is kept or is closed.
	Reason promotion.Reason
	Gates  []promotion.Condition
	// Land says that everything that decides about landing holds now: it may be
	// pushed or merged. It never does where land is pr: people merge.
	Land bool
}

// Opened returns a proposal as it stands once its pull request is open: with gates
// on which nothing was reported yet. What is written on opening is then what the
// next reconciliation finds, and is not written again.
func Opened(p Proposal) Proposal {
	p.Gates = promotion.OpenedGates(p.Gates, p.Environment.Gates.Approvals)
	return p
}

// gated is the reason of what a gate keeps from landing.
func gated(gate promotion.Condition) promotion.Reason {
	reason := promotion.BlockedBy(gate)
	reason.Rule = promotion.RuleGate
	return reason
}
