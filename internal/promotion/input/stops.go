package input

import (
	"fmt"
	"slices"

	"promoter/internal/config/setting"
	"promoter/internal/edit"
	"promoter/internal/promotion"
)

// Stopped returns why files keep moves from being made.
func Stopped(in Target, moves ...promotion.Move) (promotion.Reason, bool) {
	if refusals := stopping(in.Current.Refusals, moves); len(refusals) > 0 {
		return promotion.RefusedBy(refusals), true
	}
	if why, held := HeldByFiles(in, moves); held {
		return promotion.Reason{Rule: promotion.RuleGate, Message: "gate hold: " + why}, true
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

// HeldByFiles returns how files keep any of the moves from being made by the key of gates.hold: one has
// the value that stops promotions, or none has the key. If the config distinguishes applications by
// their files, all files of the target count, otherwise those that reference what moves.
func HeldByFiles(in Target, moves []promotion.Move) (why string, held bool) {
	hold := in.Settings.Gates.Hold
	if hold == nil {
		return "", false
	}
	if in.Config.Captures() && !in.Settings.ByComponent {
		return heldBy(*hold, in.Current.Holds, "of "+in.Target.Name())
	}
	for _, move := range moves {
		referenced := slices.ContainsFunc(in.Current.References, func(r edit.Reference) bool { return r.Component == move.Component })
		why, held := heldBy(*hold, in.Current.HoldsOf(move.Component), "that references "+move.Component)
		if held && referenced {
			return why, true
		}
	}
	return "", false
}

// heldBy judges what the files have for a key.
func heldBy(hold setting.Hold, found []edit.Hold, files string) (why string, held bool) {
	if len(found) == 0 && !hold.AbsentPasses {
		return fmt.Sprintf("no file %s has %s: add the key, or set gates.hold.absent to pass", files, hold.Key), true
	}
	i := slices.IndexFunc(found, func(h edit.Hold) bool { return h.Value == hold.Value })
	if i < 0 {
		return "", false
	}
	return found[i].String(), true
}
