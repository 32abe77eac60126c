package input

import (
	"slices"

	"promoter/internal/edit"
	"promoter/internal/promotion"
)

// Stopped returns why files keep moves from being made.
func (in *Target) Stopped(moves ...promotion.Move) (promotion.Reason, bool) {
	components := make([]string, len(moves))
	for i, move := range moves {
		components[i] = move.Component
	}
	if refusals := in.stopping(components...); len(refusals) > 0 {
		return promotion.RefusedBy(refusals), true
	}
	if held := in.HeldFiles(moves); len(held) > 0 {
		return promotion.Reason{Rule: promotion.RuleGate, Message: "gate hold: " + held[0].String()}, true
	}
	return promotion.Reason{}, false
}

// stopping returns the refusals that stop any of the components.
func (in *Target) stopping(components ...string) []edit.Refusal {
	return slices.DeleteFunc(slices.Clone(in.Current.Refusals), func(r edit.Refusal) bool {
		return len(r.Unaffected) > 0 && !slices.ContainsFunc(components, r.Stops)
	})
}

// HeldFiles returns the holds that stop any of the moves: if the config distinguishes
// applications, all of the target, otherwise those of files that reference what moves.
func (in *Target) HeldFiles(moves []promotion.Move) []edit.Hold {
	if in.Obs.Config.Captures() && !in.Settings.ByComponent {
		return in.Current.Holds
	}
	return slices.DeleteFunc(slices.Clone(in.Current.Holds), func(h edit.Hold) bool {
		return !slices.ContainsFunc(in.Current.References, func(r edit.Reference) bool {
			_, moves := promotion.MoveOf(moves, r.Component)
			return moves && r.Position.File == h.File
		})
	})
}
