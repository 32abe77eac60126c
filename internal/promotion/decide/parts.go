package decide

import (
	"slices"

	"promoter/internal/promotion"
	"promoter/internal/promotion/condition"
	"promoter/internal/promotion/gate"
	"promoter/internal/promotion/input"
)

// The parts of decisions that are neither conditions nor gates.
const (
	ofRegistry = iota
	ofParents
	ofRequest
	ofRequestEnd
	ofRollback
	ofTheWay
	ofNewer
	ofDisposition
	ofHealth
	ofClaims
	ofRejectedHere
	ofUpstream
	ofProposal
	ofMissingAnswer
	ofYoungVersion
	ofReleases
)

// parts is the table of the parts, with what each reads.
var parts = [...]input.Row{
	ofRegistry:     {Name: "from registry", Reads: input.Registry | input.UserDecisions},
	ofParents:      {Name: "from parents", Reads: input.OtherTargets | input.Registry | input.UserDecisions},
	ofRequest:      {Name: "from request", Reads: input.Registry | input.OtherTargets},
	ofRequestEnd:   {Name: "end of a request", Reads: input.Registry | input.OtherTargets | input.UserDecisions},
	ofRollback:     {Name: "from rollback", Reads: input.UserDecisions | input.Past | input.Registry},
	ofTheWay:       {Name: "on the way", Reads: input.OtherTargets | input.UserDecisions},
	ofNewer:        {Name: "newer", Reads: input.PullRequest | input.Time},
	ofDisposition:  {Name: "disposition", Reads: input.PullRequest | input.UserDecisions | input.Past | input.OtherTargets},
	ofHealth:       {Name: "health", Reads: input.Health | input.Time | input.UserDecisions},
	ofClaims:       {Name: "false claims", Reads: input.Past},
	ofRejectedHere: {Name: "rejected here", Reads: input.UserDecisions | input.Past},
	ofUpstream:     {Name: "pending upstream", Reads: input.OtherTargets},

	// These are evaluated by what a decision is, or what it was made from.
	ofProposal:      {Name: "proposal", Reads: input.Forge},      // it is carried out where the rules of the forge permit it
	ofMissingAnswer: {Name: "missing answer", Reads: input.Time}, // it is asked for again
	ofYoungVersion:  {Name: "young version", Reads: input.Time},  // it is selected later
	ofReleases:      {Name: "releases", Reads: input.Forge},      // of a source that is no registry
}

// Rows returns the rows of all tables: the parts of decisions that declare what they read.
func Rows() []input.Row {
	return slices.Concat(input.Rows(), condition.Rows(), gate.Rows(), parts[:])
}

// evaluateOutcome evaluates the parts that depend on what a decision is, or on answers that are
// expected to change.
func evaluateOutcome(in input.Target, d promotion.Decision) {
	if d.State == promotion.Proposed {
		in.For(parts[ofProposal])
	}
	if d.State == promotion.Unanswered {
		in.For(parts[ofMissingAnswer])
	}
	available := in.Registry().Available
	for i := range in.Refs {
		component := in.Refs[i].Component
		answer := available[component]
		if answer.Err != nil {
			in.For(parts[ofMissingAnswer])
		}
		if len(answer.Held) > 0 {
			in.For(parts[ofYoungVersion])
		}
		policy := in.Policies[component]
		if policy == nil {
			continue
		}
		if _, released := policy.Release(); released {
			in.For(parts[ofReleases])
		}
	}
}
