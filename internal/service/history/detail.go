package history

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/state"
	"promoter/internal/store"
)

// detailOf returns what users ask about a target beside its decision.
func detailOf(
	report outcome.Report, d promotion.Decision, settings config.Environment, decisions state.State, now time.Time,
) store.TargetDetail {
	detail := store.TargetDetail{
		Title: settings.Title, Conditions: d.Conditions, Gates: d.Gates, Propose: string(settings.Propose), Land: string(settings.Land),
		Health: healthOf(report, d), Hold: holdOf(d.Target, decisions, now), ApprovedBy: d.ApprovedBy,
	}
	for _, note := range d.Notes {
		detail.Notes = append(detail.Notes, note.Message)
	}
	for _, left := range d.Left {
		detail.Left = append(detail.Left, left.Move.String()+": "+left.Reason.Message)
	}
	record := decisions.At(state.Target(d.Target))
	switch {
	case record.Rollback != nil:
		detail.Request = requestOf(record.Rollback.Act)
	case record.Request != nil && d.Fulfilled == nil:
		detail.Request = requestOf(record.Request.Act)
	}
	return detail
}

func requestOf(act state.Act) *store.TargetRequest {
	return &store.TargetRequest{By: act.By.Login, At: act.At, Reason: act.Reason}
}

// healthOf returns what sources reported about what is in a target; nil: it is not monitored.
func healthOf(report outcome.Report, d promotion.Decision) *store.TargetHealth {
	if d.Health == nil {
		return nil
	}
	reported := &store.TargetHealth{
		Status: string(d.Health.Status), Sync: string(d.Health.Sync), Since: d.Health.Since, Message: d.Health.Message,
		Note: d.Health.Note, HealthySince: d.Health.HealthySince,
	}
	if d.Health.Failure != nil {
		reported.Failure = d.Health.Failure.Message
	}
	if landings := report.Landings[d.Target]; len(landings) > 0 && landings[0].Running != nil {
		reported.Actual, reported.ActualStatus = versionsOf(landings[0].Running.Versions), string(landings[0].Running.Status)
	}
	return reported
}

func holdOf(target promotion.Target, decisions state.State, now time.Time) *store.TargetHold {
	held, found := decisions.Held(state.Target(target), now)
	if !found {
		return nil
	}
	hold := &store.TargetHold{By: held.By.Login, At: held.At, Reason: held.Reason, Scope: held.Target.String()}
	decided := "held"
	if held.Freeze {
		decided = "frozen"
	}
	hold.Applies = strings.TrimPrefix(promotion.AppliesText(decided, held.Applies, state.Target(target)), "; ")
	if held.Until != nil {
		hold.Until = *held.Until
	}
	if held.Problem != "" {
		hold.Reason = held.Problem
	}
	if held.Freeze {
		hold.Kind = store.HoldFreeze
	} else {
		hold.Kind = store.HoldHold
	}
	return hold
}

// repositoryDetailOf returns what users ask about a repository beside its targets, without the
// config.
func repositoryDetailOf(report outcome.Report) store.RepositoryDetail {
	var refused []store.RefusedFile
	for _, target := range slices.SortedFunc(maps.Keys(report.Refused), promotion.Target.Compare) {
		for _, refusal := range report.Refused[target] {
			refused = append(refused, store.RefusedFile{Environment: target.Environment, Application: target.Application, Refusal: refusal})
		}
	}
	slices.SortStableFunc(refused, func(a, b store.RefusedFile) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	var unfollowed []store.UnfollowedImage
	for _, branch := range slices.Sorted(maps.Keys(report.Unfollowed)) {
		for _, reference := range report.Unfollowed[branch] {
			unfollowed = append(unfollowed, store.UnfollowedImage{
				Branch: branch, File: reference.Position.File, Line: reference.Position.Line, Image: imageOf(reference),
			})
		}
	}
	return store.RepositoryDetail{Problems: report.Problems, Refused: store.ListOf(refused), Unfollowed: store.ListOf(unfollowed)}
}

// imageOf returns the image of a reference as users write it.
func imageOf(r edit.Reference) string {
	return image.Reference{Name: r.Repository.Familiar(), Tag: r.Tag, Digest: r.Digest}.String()
}

// resolvedText returns a config with its defaults, or why that is unknown as a comment.
func resolvedText(c *config.Config) string {
	text, err := c.Resolved()
	if err != nil {
		return "# " + err.Error() + "\n"
	}
	return string(text)
}
