package promotion

import (
	"slices"

	"promoter/internal/edit"
)

// holdGate shows the files that users keep from being written. Other than the gates that
// are about a pull request, it also keeps one from being opened.
func holdGate(in *input, _ *Open) []Condition {
	hold := in.settings.Gates.Hold
	if hold == nil {
		return nil
	}
	gate := Condition{Name: "hold " + hold.Key, State: Passed}
	if held := in.heldFiles(in.moves); len(held) > 0 {
		gate.State, gate.Reason = Blocked, held[0].String()
	}
	return []Condition{gate}
}

// heldFiles returns the holds that stop any of the moves: if the config distinguishes
// applications, all of the target, otherwise those of files that reference what moves.
func (in *input) heldFiles(moves []Move) []edit.Hold {
	if in.obs.Config.Captures() && !in.settings.ByComponent {
		return in.current.Holds
	}
	return slices.DeleteFunc(slices.Clone(in.current.Holds), func(h edit.Hold) bool {
		return !slices.ContainsFunc(in.current.References, func(r edit.Reference) bool {
			_, moves := MoveOf(moves, r.Component)
			return moves && r.Position.File == h.File
		})
	})
}
