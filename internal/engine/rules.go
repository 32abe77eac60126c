package engine

import (
	"context"
	"fmt"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/pullrequest"
	"promoter/internal/scm"
)

// lookAtRules asks what the forge itself wants on the branches into which a pull
// request is to be merged by promoter: once for each branch, and for no other.
func (v *view) lookAtRules(ctx context.Context) error {
	ruled, can := v.Repository.(scm.Ruled)
	if !can || !v.Repository.Features().Rules {
		return nil
	}
	v.observed.Protected = map[string]promotion.Protection{}
	failed := map[string]error{}
	for _, p := range v.planned {
		if p.Step != pullrequest.StepPropose || p.Environment.Land != config.LandAutomerge {
			continue
		}
		branch := v.branchOf(p.Environment)
		if _, asked := failed[branch]; !asked {
			failed[branch] = v.rulesOf(ctx, ruled, branch)
		}
		if err := v.aside(ctx, p.Head, failed[branch]); err != nil {
			return err
		}
	}
	return nil
}

// rulesOf notes the rules of a branch under all names that the config has for it.
// What the credential may not read at all is as if nothing was asked: the forge
// says it when it refuses.
func (v *view) rulesOf(ctx context.Context, ruled scm.Ruled, branch string) error {
	rules, err := ruled.Rules(ctx, branch)
	switch fault.KindOf(err) {
	case "":
	case fault.Unauthorized, fault.NotFound:
		return nil
	default:
		return fmt.Errorf("read the rules of %s: %w", branch, err)
	}
	protection := promotion.Protection{Branch: branch, Rules: rules}
	v.observed.Protected[branch] = protection
	if branch == v.refs.Default {
		v.observed.Protected[""] = protection
	}
	return nil
}
