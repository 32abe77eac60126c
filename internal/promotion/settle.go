package promotion

import (
	"fmt"
	"time"

	"promoter/internal/schedule"
	"promoter/internal/state"
)

// settle waits until no component got a newer version for some time, so that
// images that belong together go together. It counts from when each version was
// first offered to the place.
func (p *planner) settle(moves []Move) []Condition {
	settle := p.Config.Application(p.place.Application).Settle
	if settle == 0 {
		return nil
	}
	c := Condition{Name: "settle", State: Pending, Value: schedule.FormatDuration(settle)}
	if p.Checkout {
		c.State, c.Reason = Unknown, notEvaluated
		return []Condition{c}
	}
	last, since := p.lastOffered(moves)
	c.Reason = fmt.Sprintf("%s is offered since %s", targetsInWords([]Move{last}), moment(since))
	if due := since.Add(settle); p.now.Before(due) {
		c.Until = &due
	} else {
		c.State = Passed
	}
	return []Condition{c}
}

// lastOffered returns the move whose version came last, and when. One that was
// never seen is seen now.
func (p *planner) lastOffered(moves []Move) (last Move, since time.Time) {
	for _, move := range moves {
		at, known := p.State.OfferedAt(state.Target(p.place), offered(move.Component, move.To))
		if !known {
			at = p.now
		}
		if at = earlier(at, p.now); last.Component == "" || at.After(since) {
			last, since = move, at
		}
	}
	return last, since
}
