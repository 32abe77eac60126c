package repo

import (
	"context"
	"fmt"

	"promoter/internal/health"
	"promoter/internal/promotion"
	"promoter/internal/scm"
)

// Checks is a strict subset of scm.Signals.
type Checks interface {
	Checks(ctx context.Context, commit string) ([]scm.Check, error)
}

// ReadChecks returns the checks of a commit without those that mirror health, and without our
// own status, which is added to own. That also happens where a token may not read the rest, so that no status is set
// twice.
func ReadChecks(ctx context.Context, signals Checks, commit string, own map[string]scm.Check) ([]promotion.Check, error) {
	all, err := signals.Checks(ctx, commit)
	var checks []promotion.Check
	for _, check := range all {
		if health.IsContext(check.Name) {
			continue
		}
		if check.Name == promotion.StatusContext {
			if check.Own {
				own[commit] = check
			}
			continue
		}
		if check.Name == scm.RenderedCheck {
			continue
		}
		checks = append(checks, CheckOf(check))
	}
	if err != nil {
		return checks, fmt.Errorf("read the checks of %.7s: %w", commit, err)
	}
	return checks, nil
}

// CheckOf converts a check.
func CheckOf(check scm.Check) promotion.Check {
	converted := promotion.Check{Name: check.Name, State: conditionOf(check.State), NoResult: check.NoResult, At: check.At}
	for app, state := range check.Sources {
		if converted.Sources == nil {
			converted.Sources = map[string]promotion.ConditionState{}
		}
		converted.Sources[app] = conditionOf(state)
	}
	return converted
}

func conditionOf(state scm.CheckState) promotion.ConditionState {
	switch state {
	case scm.CheckPassed:
		return promotion.Passed
	case scm.CheckFailed:
		return promotion.Failed
	default:
		return promotion.Pending
	}
}
