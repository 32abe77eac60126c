// Package gate evaluates what must be met before a promotion lands. Each gate is one file and one
// row of a table.
package gate

import (
	"promoter/internal/config/setting"
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
)

// gateKinds is the table of gates, in the order in which they are shown. Gates
// never block proposing.
var gateKinds = []struct {
	push     bool // applies to what is pushed too, which has no pull request
	evaluate func(in *input.Target, moves []promotion.Move, open *promotion.Open) []promotion.Condition
}{
	{true, limitedSettings},
	{true, holdGate},
	{true, windows},
	{false, checkGates},
	{false, approvals},
	{false, draftGate},
	{false, protection},
}

// Evaluate evaluates what must be met before the moves land in the target.
func Evaluate(in *input.Target, moves []promotion.Move) []promotion.Condition {
	var open *promotion.Open
	if found, ok := in.OpenPullRequest(); ok {
		open = &found
	}
	var gates []promotion.Condition
	for _, kind := range gateKinds {
		if kind.push || in.Settings.Land != setting.LandPush {
			gates = append(gates, kind.evaluate(in, moves, open)...)
		}
	}
	return gates
}

// limitedSettings is the gate that shows which settings the server limited.
func limitedSettings(in *input.Target, _ []promotion.Move, _ *promotion.Open) []promotion.Condition {
	return in.Limited
}
