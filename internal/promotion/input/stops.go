package input

import (
	"slices"

	"promoter/internal/edit"
	"promoter/internal/promotion"
)

// Stopped returns why files keep moves from being made.
func Stopped(in Target, moves ...promotion.Move) (promotion.Reason, bool) {
	if refusals := stopping(in.Current.Refusals, moves); len(refusals) > 0 {
		return promotion.RefusedBy(refusals), true
	}
	if held := HeldFiles(in, moves); len(held) > 0 {
		return promotion.Reason{Rule: promotion.RuleGate, Message: "gate hold: " + held[0].String()}, true
	}
	return promotion.Reason{}, false
}

// stopping returns the refusals that stop any of the moves. One that names no unaffected
// components may be about all of them.
func stopping(refusals []edit.Refusal, moves []promotion.Move) []edit.Refusal {
	return slices.DeleteFunc(slices.Clone(refusals), func(r edit.Refusal) bool {
		stops := func(move promotion.Move) bool { return r.Stops(move.Component) }
		return len(r.Unaffected) > 0 && !slices.ContainsFunc(moves, stops)
	})
}

// HeldFiles returns the holds that stop any of the moves: if the config distinguishes
// applications, all of the target, otherwise those of files that reference what moves.
func HeldFiles(in Target, moves []promotion.Move) []edit.Hold {
	if in.Config.Captures() && !in.Settings.ByComponent {
		return in.Current.Holds
	}
	return slices.DeleteFunc(slices.Clone(in.Current.Holds), func(h edit.Hold) bool {
		return !slices.ContainsFunc(in.Current.References, func(r edit.Reference) bool {
			_, moves := promotion.MoveOf(moves, r.Component)
			return moves && r.Position.File == h.File
		})
	})
}
