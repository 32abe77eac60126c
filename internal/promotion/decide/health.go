package decide

import (
	"promoter/internal/promotion"
	"promoter/internal/promotion/input"
)

// healthOf returns the health of what a target has now; nil if it is not monitored.
func healthOf(in input.Target) *promotion.Health {
	own, known := input.Own(in)
	if own.Monitored == nil {
		return nil
	}
	in = in.For(parts[ofHealth])
	if !known {
		return nil
	}
	reported, note := input.Reported(in, &own)
	h := &promotion.Health{State: reported, Note: note, Failure: input.Failure(in, &own)}
	if !h.IsReported() {
		h.Note = promotion.NotReportedYet(own.Monitored, note)
	}
	if h.Failure == nil {
		h.FailsAt = reported.FailsAt(own.Monitored.Timeout)
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
