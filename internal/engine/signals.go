package engine

import (
	"context"
	"fmt"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/fault"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
)

// signals asks what checks and people say of the head, where a gate or the way of
// refreshing wants to know.
func (v *view) signals(ctx context.Context, open *promotion.Open, pr scm.PullRequest, target promotion.Target) error {
	environment, known := v.observed.Config.Environment(target.Environment)
	pushed := open.Changed
	if !known || open.Foreign != "" {
		return nil
	}
	if v.Repository.Features().Statuses {
		checks, err := v.checksOf(ctx, pr.Head.Commit)
		// A token may be enough for all but the checks. That matters only where a
		// gate asks for one.
		if fault.KindOf(err) == fault.Unauthorized && len(environment.Gates.Checks) == 0 {
			open.Blind, err = true, nil
		}
		if err != nil {
			return err
		}
		open.Checks = checks
	}
	for _, check := range open.Checks {
		open.Changed = later(open.Changed, check.At)
	}
	if v.Repository.Features().Approvals {
		reviews, err := v.Repository.Signals().Reviews(ctx, pr.Number)
		if err != nil {
			return fmt.Errorf("read the reviews: %w", err)
		}
		if err := v.count(ctx, open, pr, reviews, teamsOf(environment.Gates.Approvals)); err != nil {
			return err
		}
	}
	v.refusedBefore(open, pushed)
	return nil
}

// checksOf returns what others say of a commit; our own status counts nowhere. It
// is remembered also where a token may not read the rest, so that nothing is said
// twice.
func (v *view) checksOf(ctx context.Context, commit string) ([]promotion.Check, error) {
	all, err := v.Repository.Signals().Checks(ctx, commit)
	var checks []promotion.Check
	for _, check := range all {
		if check.Name == promotion.StatusContext {
			if check.Own {
				v.memory.statuses[commit] = check
			}
			continue
		}
		checks = append(checks, promotion.Check{Name: check.Name, State: conditionState(check.State), At: check.At})
	}
	if err != nil {
		return checks, fmt.Errorf("read the checks of %.7s: %w", commit, err)
	}
	return checks, nil
}

func conditionState(state scm.CheckState) promotion.ConditionState {
	switch state {
	case scm.CheckPassed:
		return promotion.Passed
	case scm.CheckFailed:
		return promotion.Failed
	default:
		return promotion.Pending
	}
}

// refusedBefore reads what our own status says of a refused merge. What was said on
// the head since then may have changed the forge's mind. The push itself came before,
// whatever the clock of this machine said then.
func (v *view) refusedBefore(open *promotion.Open, pushed time.Time) {
	status := v.memory.statuses[open.Commit]
	refusal, refused := pullrequest.ParseRefusal(status.Description, open.Changed)
	if refused && (open.Changed.Equal(pushed) || !open.Changed.After(status.At)) {
		open.Refused = &refusal
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
