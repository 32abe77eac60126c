package promotion

import (
	"fmt"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/schedule"
	"promoter/internal/state"
)

// Health is what runs in a target that is monitored, beside what the files have.
type Health struct {
	health.State
	// Note is what the last report is about that does not count, or what to set up where
	// nothing was ever reported; empty: neither.
	Note string
	// Failure is why what landed counts as failed. Nil: it does not.
	Failure *Reason
	// FailsAt is when it counts as failed if nothing changes; zero: never by waiting.
	FailsAt time.Time
}

// monitoredBy returns where the health of a target is known from; nil if it is not monitored.
func monitoredBy(o *Observation, target Target) *config.Health {
	monitored := o.Config.Settings(target.Environment, target.Application).Health
	if monitored == nil {
		return nil
	}
	named := monitored.For(target.Environment, target.Application)
	return &named
}

// healthOf returns the health of what a target has now; nil if it is not monitored.
func healthOf(o *Observation, target Target, now time.Time) *Health {
	monitored := monitoredBy(o, target)
	landings := o.Landings[target]
	if monitored == nil || len(landings) == 0 {
		return nil
	}
	current := landings[0]
	h := &Health{State: current.Health, Note: current.HealthNote, Failure: failureOf(o, target, current, *monitored, now)}
	if !h.IsReported() {
		h.Note = notReportedYet(monitored, current.HealthNote)
	}
	if at := h.State.FailsAt(monitored.Timeout); h.Failure == nil {
		h.FailsAt = at
	}
	return h
}

// note shows what runs beside what the files have, which are desired.
func (h Health) note(desired Snapshot) Reason {
	text := "desired " + desired.String() + "; "
	switch {
	case h.Failure != nil:
		return Reason{Rule: RuleFailed, Message: text + h.Failure.Message}
	case h.IsReported():
		return Reason{Rule: RuleHealth, Message: text + healthText(h.State), Until: h.FailsAt}
	default:
		return Reason{Rule: RuleHealth, Message: text + h.Note}
	}
}

// backwardsOf returns the moves from what is wanted to what the files have.
func backwardsOf(moves []Move) []Move {
	var back []Move
	for _, move := range moves {
		if !isNone(move.From) {
			back = append(back, Move{Component: move.Component, From: move.To, To: move.From})
		}
	}
	return back
}

// failureOf returns why a landed snapshot counts as failed: because it was unhealthy for the
// timeout, now or when that was recorded. It then counts as failed until a newer version is
// there, or a user decides something about the target.
func failureOf(o *Observation, target Target, landed Landing, monitored config.Health, now time.Time) *Reason {
	if recorded := recordedFailure(o, target, landed); recorded != nil {
		return recorded
	}
	if o.State.At(state.Target(target)).Request != nil { // a user decides what comes next
		return nil
	}
	if at := landed.Health.FailsAt(monitored.Timeout); !at.IsZero() && !now.Before(at) && at.After(o.State.ResumedAt(state.Target(target))) {
		return &Reason{Rule: RuleFailed, Message: "failed: " + failedText(landed.Health, monitored)}
	}
	return nil
}

// recordedFailure returns why a landed snapshot is recorded as failed; nil: it is not. That counts
// also after another one replaced it.
func recordedFailure(o *Observation, target Target, landed Landing) *Reason {
	recorded, failed := o.State.FailureOf(state.Target(target), landed.Snapshot.ID())
	if !failed {
		return nil
	}
	return &Reason{Rule: RuleFailed, Message: "failed: " + recorded.Reason}
}

// failedText is why a snapshot failed: "Degraded for 15m: message".
func failedText(s health.State, monitored config.Health) string {
	text := fmt.Sprintf("%s for %s", s.Status, schedule.FormatDuration(monitored.Timeout))
	if s.Message != "" {
		text += ": " + s.Message
	}
	return text
}

// Failing returns why what a target has now has just failed; false for what is recorded.
func Failing(o Observation, target Target, now time.Time) (why string, failing bool) {
	monitored := monitoredBy(&o, target)
	landings := o.Landings[target]
	if monitored == nil || len(landings) == 0 || failureOf(&o, target, landings[0], *monitored, now) == nil {
		return "", false
	}
	if _, recorded := o.State.FailureOf(state.Target(target), landings[0].Snapshot.ID()); recorded {
		return "", false
	}
	return failedText(landings[0].Health, *monitored), true
}

// MayRollBack reports whether promoter itself may return a target, whose versions failed, to
// those of before: with onFailure: rollback, unless a user rolls it back, or promoter returned it
// to these versions.
func MayRollBack(o Observation, target Target) bool {
	record := o.State.At(state.Target(target))
	monitored := monitoredBy(&o, target)
	if monitored == nil || monitored.OnFailure != config.OnFailureRollback || record.Rollback != nil {
		return false
	}
	return !IsBack(o, target)
}

// IsBack reports whether a target has versions to which promoter returned it because others
// failed.
func IsBack(o Observation, target Target) bool {
	return slices.ContainsFunc(o.State.At(state.Target(target)).Failures, func(f state.Failure) bool {
		return len(f.Back) > 0 && holdsImages(o.Targets[target], f.Back)
	})
}

// holdsImages reports whether files have all images of a rollback.
func holdsImages(files Current, images map[string]string) bool {
	return !slices.ContainsFunc(files.References, func(r edit.Reference) bool {
		text, named := images[r.Component]
		was, err := image.Parse(text)
		return named && (err != nil || !SameRollout(image.Version{Tag: was.Tag, Digest: was.Digest}, image.Version{Tag: r.Tag, Digest: r.Digest}))
	})
}
