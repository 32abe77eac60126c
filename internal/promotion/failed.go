package promotion

import (
	"fmt"
	"slices"
	"time"

	"promoter/internal/config/setting"
	"promoter/internal/edit"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/schedule"
	"promoter/internal/state"
)

// MonitoredBy returns where the health of a target is known from; nil if it is not monitored.
func MonitoredBy(o *Observation, target Target) *setting.Health {
	monitored := o.Config.Settings(target.Environment, target.Application).Health
	if monitored == nil {
		return nil
	}
	named := monitored.For(target.Environment, target.Application)
	return &named
}

// FailureOf returns why a landed snapshot counts as failed: because it was unhealthy for the
// timeout, now or when that was recorded. It then counts as failed until a newer version is
// there, or a user decides something about the target.
func FailureOf(o *Observation, target Target, landed Landing, monitored setting.Health, now time.Time) *Reason {
	if recorded := RecordedFailure(o, target, landed); recorded != nil {
		return recorded
	}
	if o.State.At(state.Target(target)).Request != nil { // a user decides what comes next
		return nil
	}
	at := landed.Health.FailsAt(monitored.Timeout)
	if !at.IsZero() && !now.Before(at) && at.After(o.State.ResumedAt(state.Target(target))) {
		return &Reason{Rule: RuleFailed, Message: "failed: " + failedText(landed.Health, monitored)}
	}
	return nil
}

// RecordedFailure returns why a landed snapshot is recorded as failed; nil: it is not. That counts
// also after another one replaced it.
func RecordedFailure(o *Observation, target Target, landed Landing) *Reason {
	if len(o.State.At(state.Target(target)).Failures) == 0 { // so the snapshot needs no label
		return nil
	}
	recorded, failed := o.State.FailureOf(state.Target(target), landed.Snapshot.ID())
	if !failed {
		return nil
	}
	return &Reason{Rule: RuleFailed, Message: "failed: " + recorded.Reason}
}

// failedText is why a snapshot failed: "Degraded for 15m: message".
func failedText(s health.State, monitored setting.Health) string {
	text := fmt.Sprintf("%s for %s", s.Status, schedule.FormatDuration(monitored.Timeout))
	if s.Message != "" {
		text += ": " + s.Message
	}
	return text
}

// Failing returns why what a target has now has just failed; false for what is recorded.
func Failing(o Observation, target Target, now time.Time) (why string, failing bool) {
	monitored := MonitoredBy(&o, target)
	landings := o.Landings[target]
	if monitored == nil || len(landings) == 0 || FailureOf(&o, target, landings[0], *monitored, now) == nil {
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
	monitored := MonitoredBy(&o, target)
	if monitored == nil || monitored.OnFailure != setting.OnFailureRollback || record.Rollback != nil {
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
		back := was.Version()
		return named && (err != nil || !SameRollout(back, r.Version()))
	})
}
