package promotion

import (
	"slices"
	"strings"

	"promoter/internal/config/setting"
)

// OpenedGates returns the gates of a pull request that was just opened: nothing was
// reported on it yet.
func OpenedGates(gates []Condition, required *setting.Approvals) []Condition {
	gates = slices.Clone(gates)
	for i := range gates {
		switch {
		case gates[i].Reason != NoPullRequest:
		case gates[i].Name == ApprovalsGate && required != nil:
			gates[i].Reason = NotApproved + ByNames(required.From)
		default:
			gates[i].Reason = NotReported
		}
	}
	return gates
}

// The reasons of gates before a pull request is open, and before something was
// reported on it.
const (
	NoPullRequest = "no pull request yet"
	NotApproved   = "not approved yet"
	// ChangesRequested is what the reason of the gate of approvals begins with while users request changes.
	ChangesRequested = "changes requested"

	// NotReported is the reason of the gate of a check without a run.
	NotReported = "not reported yet"
)

// ApprovalsGate is the name of the gate of approvals.
const ApprovalsGate = "approvals"

// ByNames names who may approve.
func ByNames(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " by " + strings.Join(names, " or ")
}
