package observe

import (
	"context"
	"fmt"

	"promoter/internal/comments"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
	"promoter/internal/statebranch"
)

// ReadBypasses checks, live, what the users of requests and rollbacks may bypass. The state branch
// grants nothing: a request counts only if it is authentic, and only for a user whom the forge
// authenticated and the server file names now. What cannot be asked is not bypassed, and is a
// partial failure.
func (r Reader) ReadBypasses(
	ctx context.Context, o promotion.Observation, failures *repo.Collector,
) map[promotion.Target][]promotion.Bypass {
	bypasses := map[promotion.Target][]promotion.Bypass{}
	for target := range o.Targets {
		record := o.State.At(state.Target(target))
		var requests []state.Request
		if record.Request != nil {
			requests = append(requests, *record.Request)
		}
		if record.Rollback != nil {
			requests = append(requests, record.Rollback.Bypassing())
		}
		for _, request := range requests {
			if len(request.Bypass) > 0 {
				bypasses[target] = append(bypasses[target], r.readBypass(ctx, o, target, request, failures))
			}
		}
	}
	return bypasses
}

// readBypass checks what the user of one request may bypass.
func (r Reader) readBypass(
	ctx context.Context, o promotion.Observation, target promotion.Target, request state.Request, failures *repo.Collector,
) promotion.Bypass {
	checked := promotion.Bypass{Request: request, Refused: map[string]string{}}
	for _, condition := range request.Bypass {
		refused, err := refuseBypass(ctx, r.Clients.Seals, r.Users.Bypasses, request, condition, o.Deployment(target))
		if err != nil {
			failures.Add("bypass of "+condition+" for "+target.Application+" in "+target.Environment, err)
			refused = "the permission could not be read"
		}
		if refused != "" {
			checked.Refused[condition] = refused
		}
	}
	return checked
}

// refuseBypass returns why a request may not bypass a condition; empty: it may.
func refuseBypass(
	ctx context.Context, seals statebranch.Seals, rules comments.Bypasses,
	request state.Request, condition string, target promotion.Deployment,
) (string, error) {
	switch {
	case !statebranch.Authenticates(seals):
		return state.Branch + " has no seals, so any user who can push could have written the request: " +
			"set seal.keys or PROMOTER_SEAL_KEY", nil
	case request.Reason == "":
		return "it has no reason", nil
	case rules == nil:
		return "there is no server file that permits it", nil
	}
	permission, err := rules.MayBypass(ctx, request.By, condition, target)
	if err != nil {
		return "", fmt.Errorf("ask whether %s may bypass %s: %w", request.By.Login, condition, err)
	}
	if permission.Allowed {
		return "", nil
	}
	return permission.Reason, nil
}
