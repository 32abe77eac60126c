package git

import (
	"context"

	"promoter/internal/fault"
)

// Update moves one branch of the remote from one commit to another.
type Update struct {
	Branch string
	Old    ID // what the branch must be at now; zero: there must be none
	New    ID // zero: the branch is deleted
}

// Push moves all branches or, where the remote can do so atomically, none. The
// objects that the remote may lack go with it. A branch that is not at Old any
// more is a Conflict fault: fetch, compute and push again. A refusal for any other
// reason is Unauthorised, with the remote's words.
func (m *Mirror) Push(ctx context.Context, updates ...Update) error {
	return fault.New(fault.Internal, "not implemented")
}
