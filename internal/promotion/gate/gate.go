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
	row      input.Row
	push     bool                            // applies to what is pushed too, which has no pull request
	applies  func(gates *setting.Gates) bool // nil: always; a gate that does not apply reads nothing
	evaluate func(in input.Target, moves []promotion.Move, open *promotion.Open) []promotion.Condition
}{
	{input.Row{Name: "limited settings"}, true, nil, limitedSettings},
	{input.Row{Name: "hold gate", Reads: input.Files}, true, hasHold, holdGate},
	{input.Row{Name: "windows", Reads: input.Time}, true, hasWindows, windows},
	{input.Row{Name: "check gates", Reads: input.PullRequest | input.Time}, false, nil, checkGates},
	{approvalsRow, false, nil, approvals},
	{input.Row{Name: "draft", Reads: input.PullRequest}, false, nil, draftGate},
	{input.Row{Name: "protection", Reads: input.PullRequest | input.Time}, false, nil, protection},
}

// Rows returns the rows of the table.
func Rows() []input.Row {
	rows := make([]input.Row, 0, len(gateKinds))
	for _, kind := range gateKinds {
		rows = append(rows, kind.row)
	}
	return rows
}

// Evaluate evaluates what must be met before the moves land in the target.
func Evaluate(in input.Target, moves []promotion.Move) []promotion.Condition {
	var gates []promotion.Condition
	for _, kind := range gateKinds {
		if !kind.push && in.Settings.Land == setting.LandPush || kind.applies != nil && !kind.applies(&in.Settings.Gates) {
			continue
		}
		row := in.For(kind.row)
		var open *promotion.Open
		if kind.row.Reads.Has(input.PullRequest) {
			open = row.OpenPullRequest()
		}
		gates = append(gates, kind.evaluate(row, moves, open)...)
	}
	return gates
}

// limitedSettings is the gate that shows which settings the server limited.
func limitedSettings(in input.Target, _ []promotion.Move, _ *promotion.Open) []promotion.Condition {
	return in.Limited
}
