package promotion

import "time"

// Arrange says what a pass does about every branch of ours: the decisions of one
// application in one environment, or of all that share a pull request, become one
// proposal. It is pure, and carries nothing out. Rollbacks come first, then what
// was requested, then the others by environment, parents first, and application.
// A place where nothing differs and nothing is open has no proposal.
func Arrange(observed Observed, decisions []Decision, now time.Time) []Proposal {
	panic("not written yet")
}
