package scm

import (
	"context"
	"errors"
)

// ErrBehind is wrapped by the error of a merge that the forge refuses because the
// head is out of date with its base or conflicts with it: a rebuilt head may be
// merged. Other Temporary faults of a merge resolve by themselves.
var ErrBehind = errors.New("the head is out of date with its base")

// Rules by which a forge may permanently refuse a merge. They also name what blocks
// the merge.
const (
	RuleQueue  = "merge queue"
	RuleSigned = "signed commits"
	RuleLinear = "linear history"
)

// RefusedError is in the chain of an Unauthorized merge error: the forge's own rule
// that forbids the merge. An adapter that cannot determine it omits it.
type RefusedError struct {
	Rule  string // one of the rules above; empty: see Words
	Words string // the forge's message, without the request
}

// Error returns the forge's message.
func (e *RefusedError) Error() string { return e.Words }

// Ruled is implemented by repositories whose forge reports what it requires before a
// merge into a branch (Features.Rules).
type Ruled interface {
	// Rules returns the forge's requirements for the branch. Settings that the
	// credential cannot read are zero and listed in Rules.Hidden. A branch without
	// protection has the zero Rules.
	Rules(ctx context.Context, branch string) (Rules, error)
}

// Rules is what a forge requires before a merge into a branch.
type Rules struct {
	Checks []string // contexts and names of required checks
	// Sources are the apps that have to report some of these checks. The results of others
	// do not count.
	Sources      map[string]string
	Approvals    int  // number of required approvals
	Owners       bool // approval of the code owners of the changed files is required (CODEOWNERS)
	NotByPusher  bool // approval by the last user who pushed to the head does not count
	Current      bool // the head must be up to date with the base
	Queue        bool // merges only through the forge's merge queue
	Signed       bool // commits must be signed
	Linear       bool // no merge commits
	PullRequests bool // no direct pushes to the branch
	// Stuck is the reason why no merge method that the repository allows satisfies
	// the rules, and how to fix it. It is empty if there is such a method, or if
	// unknown.
	Stuck  string
	Hidden string // what could not be read, and why; empty: nothing
	Note   string // what the forge has no rules for, and why; empty: nothing
}

// HeadRuled is implemented by repositories whose forge may reject our commits on any
// branch.
type HeadRuled interface {
	// Unpushable returns why the forge rejects a push of our commits to a branch, which
	// need not exist, and how to fix it. It is empty if it does not, or if unknown.
	Unpushable(ctx context.Context, branch string) (string, error)
}
