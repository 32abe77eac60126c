package promotion

import "promoter/internal/config"

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
	Head        string             // our branch
	Base        string             // the environment's branch; empty: the default one
	Group       bool
	Decisions   []Decision // those that it carries, sorted by application
	Open        *Open      // the pull request that stands; nil: none
	Step        Step
	Reason      Reason
	Gates       []Condition
	// Land says that everything that decides about landing holds now: it may be
	// pushed or merged. Somebody else merges where land is pr.
	Land bool
}
