package scm

import (
	"context"
	"errors"
)

// ErrBehind is wrapped by the error of a merge that the forge refuses because the
// head is out of date with its base, or conflicts with it: a head that is built
// anew may land. Other Temporary faults of a merge pass by themselves.
var ErrBehind = errors.New("the head is out of date with its base")

// The rules by which a forge may refuse a merge for good. They are also the names
// of what then blocks.
const (
	RuleQueue  = "merge queue"
	RuleSigned = "signed commits"
	RuleLinear = "linear history"
)

// RefusedError is in the chain of an Unauthorized error of a merge: what the forge's
// own rules say against it. An adapter that cannot tell leaves it out.
type RefusedError struct {
	Rule  string // one of the rules above; empty: the words tell
	Words string // the forge's, without what was asked
}

// Error returns the forge's words.
func (e *RefusedError) Error() string { return e.Words }

// Ruled is implemented by repositories whose forge tells what it asks itself
// before anything lands on a branch (Features.Rules).
type Ruled interface {
	// Rules tells what the forge asks on the branch. What the credential may not
	// read is left zero and named in Rules.Hidden; a branch without protection has
	// the zero Rules.
	Rules(ctx context.Context, branch string) (Rules, error)
}

// Rules is what a forge asks itself before anything lands on a branch.
type Rules struct {
	Checks       []string // contexts and names of checks that must have passed
	Approvals    int      // how many are wanted
	Owners       bool     // the owners of the touched files must approve (CODEOWNERS)
	NotByPusher  bool     // the last one who pushed to the head does not count
	Current      bool     // the head must hold all of the base
	Queue        bool     // nothing lands but through the forge's merge queue
	Signed       bool     // commits must be signed
	Linear       bool     // no merge commits
	PullRequests bool     // nothing is pushed straight to the branch
	// Stuck says why no way of merging that the repository allows keeps the rules,
	// and what to do about it, in words; empty: one does, or it is not known.
	Stuck  string
	Hidden string // what could not be read and why, in words; empty: nothing
}
