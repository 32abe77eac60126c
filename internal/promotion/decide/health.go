package decide

import (
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
)

// healthOf returns the health of what a target has now; nil if it is not monitored.
func healthOf(in *input.Target) *promotion.Health {
	monitored := promotion.MonitoredBy(in.Obs, in.Target)
	if monitored == nil {
		return nil
	}
	now, landings := in.Now(), in.Obs.Landings[in.Target] // what is reported may change at any time
	if len(landings) == 0 {
		return nil
	}
	current := landings[0]
	h := &promotion.Health{State: current.Health, Note: current.HealthNote, Failure: promotion.FailureOf(in.Obs, in.Target, current, *monitored, now)}
	if !h.IsReported() {
		h.Note = promotion.NotReportedYet(monitored, current.HealthNote)
	}
	if at := h.State.FailsAt(monitored.Timeout); h.Failure == nil {
		h.FailsAt = at
	}
	return h
}

// healthNote shows what runs beside what the files have, which are desired.
func healthNote(h promotion.Health, desired promotion.Snapshot) promotion.Reason {
	text := "desired " + desired.String() + "; "
	switch {
	case h.Failure != nil:
		return promotion.Reason{Rule: promotion.RuleFailed, Message: text + h.Failure.Message}
	case h.IsReported():
		return promotion.Reason{Rule: promotion.RuleHealth, Message: text + promotion.HealthText(h.State), Until: h.FailsAt}
	default:
		return promotion.Reason{Rule: promotion.RuleHealth, Message: text + h.Note}
	}
}

// backwardsOf returns the moves from what is wanted to what the files have.
func backwardsOf(moves []promotion.Move) []promotion.Move {
	var back []promotion.Move
	for _, move := range moves {
		if !promotion.IsNone(move.From) {
			back = append(back, promotion.Move{Component: move.Component, From: move.To, To: move.From})
		}
	}
	return back
}
