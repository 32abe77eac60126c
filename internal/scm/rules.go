package scm

import (
	"context"
	"errors"
)

// ErrBehind is wrapped by the error of a merge that the forge refuses because the
// head is out of date with its base, or conflicts with it: a head that is built
// anew may land. Other Temporary faults of a merge pass by themselves.
var ErrBehind = errors.New("the head is out of date with its base")

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
	Hidden       string   // what could not be read and why, in words; empty: nothing
}
