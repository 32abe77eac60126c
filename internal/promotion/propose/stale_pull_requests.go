package propose

import (
	"fmt"
	"maps"
	"slices"

	"promoter/internal/config"
	"promoter/internal/config/setting"
	"promoter/internal/promotion"
)

// keepOrClose returns what becomes of the open pull request of a decision that
// proposes nothing.
func keepOrClose(d promotion.Decision, open promotion.Open) (Step, promotion.Reason) {
	switch {
	case open.Foreign != "":
		return StepKeep, foreign(open)
	case d.Disposition.Close:
		return StepClose, d.Disposition.Reason
	default:
		return StepKeep, d.Disposition.Reason
	}
}

// abandoned returns the proposals for open pull requests that no decision is about:
// they are closed, unless they are in an environment that is not decided about or
// not available.
func abandoned(observation promotion.Observation, decisions []promotion.Decision, claimed map[string]bool) []Proposal {
	if len(observation.Open) == 0 {
		return nil
	}
	decided := map[promotion.Target]bool{}
	for _, d := range decisions {
		decided[d.Target] = true
	}
	var proposals []Proposal
	for _, branch := range slices.Sorted(maps.Keys(observation.Open)) {
		target, ours := promotion.ParseHead(branch)
		if !ours || claimed[branch] {
			continue
		}
		known := slices.Contains(observation.Config.Order(), target.Environment)
		if known && !slices.Contains(observation.Scope(), target.Environment) {
			continue
		}
		settings := observation.Settings(target.Environment, target.Application)
		settings.Name = target.Environment
		open := observation.Open[branch]
		p := Proposal{
			Environment: settings, Head: branch, Base: settings.Branch, Group: isGroup(target), Open: &open, Step: StepClose,
			Reason: promotion.Reason{Rule: promotion.RuleGone, Message: whyAbandoned(target, settings, known, decided[target])},
		}
		if why, unavailable := observation.Unavailable[target.Environment]; unavailable && known {
			p.Step, p.Reason = StepKeep, promotion.Reason{Rule: promotion.RuleBranch, Message: why}
		}
		if open.Foreign != "" {
			p.Step, p.Reason = StepKeep, foreign(open)
		}
		proposals = append(proposals, p)
	}
	return proposals
}

// whyAbandoned returns why a branch of promoter is no longer needed.
func whyAbandoned(target promotion.Target, settings config.Environment, known, decided bool) string {
	switch {
	case !known:
		return fmt.Sprintf("environment %s is no longer in the config", target.Environment)
	case isGroup(target) && settings.PullRequest.Group == setting.GroupEnvironment:
		return "no environment has files of any application"
	case isGroup(target):
		return fmt.Sprintf("the applications of %s now have separate pull requests", target.Environment)
	case !decided:
		return fmt.Sprintf("no environment has files of %s", target.Application)
	case settings.Land == setting.LandPush:
		return fmt.Sprintf("%s is now pushed to %s directly", target.Application, target.Environment)
	default:
		return fmt.Sprintf("the applications of %s now share one pull request", target.Environment)
	}
}

func foreign(open promotion.Open) promotion.Reason {
	return promotion.Reason{Rule: promotion.RuleForeign, Message: open.Foreign}
}
