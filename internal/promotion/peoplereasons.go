package promotion

import (
	"fmt"
	"strings"
	"time"

	"promoter/internal/state"
)

// The reasons of what people decided. They say who, since when and why, and hold
// no present time: as long as nothing changes, the words do not.

// heldBy is the reason of a place that people stopped.
func heldBy(held state.Held) Reason {
	if held.Problem != "" {
		return Reason{Rule: RuleHeld, Message: fmt.Sprintf("held: the record of %s on %s cannot be read: %s", held.Place, state.Branch, held.Problem)}
	}
	r := Reason{Rule: RuleHeld, Message: "held by "}
	if held.Freeze {
		r = Reason{Rule: RuleFrozen, Message: held.Place.String() + " is frozen by "}
	}
	r.Message += who(held.Act) + " since " + day(held.At) + because(held.Act)
	if held.Until != nil {
		r.Until = held.Until.UTC()
	}
	return r
}

func rejectedWords(move Move, r state.Rejection) string {
	words := fmt.Sprintf("%s was rejected by %s on %s", targetsInWords([]Move{move}), who(r.Act), day(r.At))
	if r.Number != 0 {
		words += fmt.Sprintf(" (#%d)", r.Number)
	}
	return words + because(r.Act)
}

func takenBefore(move Move, taken Reversion) Reason {
	words := targetsInWords([]Move{move}) + " was here before and was taken back"
	if taken.Commit != "" {
		words += " (commit " + taken.Commit[:min(len(taken.Commit), shortHex)] + ")"
	}
	return Reason{Rule: RuleReverted, Message: words}
}

func rolledBack(moves []Move, back state.RolledBack) Reason {
	return Reason{Rule: RuleRollback, Message: fmt.Sprintf("rolled back by %s on %s%s: %s",
		who(back.Act), day(back.At), because(back.Act), movesInWords(moves))}
}

func rollbackUnreadable(component, text string) Reason {
	return Reason{Rule: RuleRollback, Message: fmt.Sprintf("the rollback names %.200q for %s, which is no image of it", text, component)}
}

func rollbackElsewhere(component, text string) Reason {
	return Reason{Rule: RuleRollback, Message: fmt.Sprintf("the rollback names %.200q for %s, which never stood here: ask for it with promote", text, component)}
}

func requestedBy(moves []Move, request state.Request) Reason {
	return Reason{Rule: RuleGiven, Message: fmt.Sprintf("asked for by %s: %s", who(request.Act), movesInWords(moves))}
}

// nothingRequested is the reason of a request for versions of which no file here
// holds one.
func nothingRequested(request state.Request) Reason {
	return Reason{Rule: RuleGiven, Message: fmt.Sprintf("%s asked for %s, which nothing here refers to",
		who(request.Act), strings.Join(request.With, ", "))}
}

func who(act state.Act) string {
	if act.By.Login == "" {
		return "somebody"
	}
	return act.By.Login
}

func because(act state.Act) string {
	if act.Why == "" {
		return ""
	}
	return ": " + act.Why
}

// day is how a date stands in a reason; moment is a time, where hours count.
func day(t time.Time) string    { return t.UTC().Format(time.DateOnly) }
func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }
