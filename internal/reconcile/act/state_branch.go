package act

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"promoter/internal/comments"
	"promoter/internal/state"
	"promoter/internal/statebranch"
)

// recordPlan records in the state what is to be remembered of a plan, before it is carried out.
func (x *executor) recordPlan(ctx context.Context) error {
	for _, d := range x.plan.Decisions {
		if d.Ended != nil {
			log := x.c.Log.With(slog.String("environment", d.Environment), slog.String("application", d.Application))
			by, why := d.Ended.Request.By.Login, d.Ended.Reason.String()
			log.InfoContext(ctx, "request ended", slog.String("by", by), slog.String("reason", why))
		}
	}
	before := x.o.Branch.Counts
	x.o = x.o.WithChanges(x.plan.StateChanges(x.o.Promotion, x.o.Now, x.skipReason)...)
	x.logWaitsAgain(ctx, before)
	return x.writeState(ctx)
}

// logWaitsAgain logs, once for each target, that a soak, minAge, or settle begins again because the time that is recorded has no
// seal.
func (x *executor) logWaitsAgain(ctx context.Context, before state.State) {
	const message = "a wait begins again: the recorded time has no seal, and counts after 'promoter seals adopt'"
	after := x.o.Promotion.State
	for _, target := range after.SetAside() {
		was, is := before.At(target), after.At(target)
		soaks := len(is.UnsealedSeen) > 0 && len(is.Seen) > len(was.Seen)
		ages := slices.ContainsFunc(is.UnsealedVersions, func(v state.Version) bool {
			_, counted := before.AvailableSince(target, v)
			_, counts := after.AvailableSince(target, v)
			return counts && !counted
		})
		if soaks || ages {
			log := x.c.Log.With(slog.String("environment", target.Environment))
			log.WarnContext(ctx, message, slog.String("application", target.Application))
		}
	}
}

// replyToCommands replies to the commands in comments, and records that it did.
func (x *executor) replyToCommands(ctx context.Context) error {
	reader := x.c.Comments(x.actor.Users, x.c.History(x.o.Promotion.Config))
	decided := comments.Decided{Proposals: x.plan.Proposals, Decisions: x.plan.Decisions}
	replied, err := reader.Reply(ctx, x.o.Commented(), decided, x.failures)
	if err != nil || len(replied) == 0 {
		return err
	}
	x.o = x.o.WithChanges(replied...)
	return x.writeState(ctx)
}

// writeState writes the recorded changes to the state branch, in one commit. It also seals
// what users added there, and removes what does not count.
func (x *executor) writeState(ctx context.Context) error {
	states := x.c.StateBranch()
	if len(x.o.Changes) == 0 && (x.o.Branch.Sealed || !states.IsSealed()) {
		return nil
	}
	message := "Record what a reconciliation observed"
	switch n := len(x.o.Messages); {
	case n == 1:
		message = x.o.Messages[0]
	case n > 1:
		message = fmt.Sprintf("Apply %d commands from comments\n\n%s", n, strings.Join(x.o.Messages, "\n\n"))
	}
	if len(x.o.Branch.Ignored) > 0 {
		message += "\n\nRemoved, because it had no seal: " + statebranch.IgnoredText(x.o.Branch.Ignored) + "."
	}
	after, _ := x.o.Branch.Counts.Apply(x.o.Changes...) // see Observation.WithChanges
	update, written, err := states.Draft(ctx, x.o.Branch, after, message, states.IsSealed())
	x.o.Changes, x.o.Messages = nil, nil
	if err != nil || update.New == "" {
		return err
	}
	if err := x.push(ctx, update); err != nil {
		return fmt.Errorf("write %s: %w", state.Branch, err)
	}
	x.o.Branch = written
	return nil
}
