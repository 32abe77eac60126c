package promotion

import (
	"slices"

	"promoter/internal/config"
)

// The reasons of gates before a pull request is open, and before something was
// reported on it.
const (
	noPullRequest = "no pull request yet"
	notReported   = "not reported yet"
	notApproved   = "not approved yet"
)

// gateKinds is the table of gates, in the order in which they are shown. Gates
// never block proposing.
var gateKinds = []struct {
	push     bool // applies to what is pushed too, which has no pull request
	evaluate func(in *input, open *Open) []Condition
}{
	{true, limitedSettings},
	{true, holdGate},
	{true, windows},
	{false, checkGates},
	{false, approvals},
	{false, draftGate},
	{false, protection},
}

// evaluateGates evaluates what must be met before the moves land in the target.
func evaluateGates(of *input, moves []Move) []Condition {
	proposed := *of
	proposed.moves = moves
	in := &proposed
	var open *Open
	if found, ok := openPullRequest(in); ok {
		open = &found
	}
	var gates []Condition
	for _, kind := range gateKinds {
		if kind.push || in.settings.Land != config.LandPush {
			gates = append(gates, kind.evaluate(in, open)...)
		}
	}
	return gates
}

// limitedSettings is the gate that shows which settings the server limited.
func limitedSettings(in *input, _ *Open) []Condition { return in.limited }

// OpenedGates returns the gates of a pull request that was just opened: nothing was
// reported on it yet.
func OpenedGates(gates []Condition, required *config.Approvals) []Condition {
	gates = slices.Clone(gates)
	for i := range gates {
		switch {
		case gates[i].Reason != noPullRequest:
		case gates[i].Name == approvalsGate && required != nil:
			gates[i].Reason = notApproved + byNames(required.From)
		default:
			gates[i].Reason = notReported
		}
	}
	return gates
}
