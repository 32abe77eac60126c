package pullrequest

import (
	"fmt"
	"maps"
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/config"
)

// left is what becomes of the open pull request of a decision that proposes nothing.
func left(d promotion.Decision, open promotion.Open) (Step, promotion.Reason) {
	switch {
	case open.Foreign != "":
		return StepKeep, foreign(open)
	case d.Disposition.Close:
		return StepClose, d.Disposition.Reason
	default:
		return StepKeep, d.Disposition.Reason
	}
}

// leftovers arranges the pull requests that no decision speaks of.
func (a *arranger) leftovers() {
	for _, branch := range slices.Sorted(maps.Keys(a.Open)) {
		target, ours := promotion.ParseHead(branch)
		if !ours || a.claimed[branch] {
			continue
		}
		settings := a.Settings(target.Environment, target.Application)
		_, known := a.order[target.Environment]
		if known && !a.looked[target.Environment] {
			continue
		}
		settings.Name = target.Environment
		open := a.Open[branch]
		p := Proposal{
			Environment: settings, Head: branch, Base: settings.Branch, Group: isGroup(target),
			Open: &open, Step: StepClose, Reason: a.gone(target, settings, known),
		}
		if why, away := a.Unavailable[target.Environment]; away && known {
			p.Step, p.Reason = StepKeep, promotion.Reason{Rule: promotion.RuleBranch, Message: why}
		}
		if open.Foreign != "" {
			p.Step, p.Reason = StepKeep, foreign(open)
		}
		a.add(p)
	}
}

// gone says why a branch of ours stands for nothing any more.
func (a *arranger) gone(target promotion.Target, settings config.Environment, known bool) promotion.Reason {
	var words string
	switch {
	case !known:
		words = fmt.Sprintf("the config has no environment %s any more", target.Environment)
	case isGroup(target) && settings.PullRequest.Group == config.GroupEnvironment:
		words = "no environment has files of any application any more"
	case isGroup(target):
		words = fmt.Sprintf("the applications of %s have pull requests of their own now", target.Environment)
	case !a.places[target]:
		words = fmt.Sprintf("no environment has files of %s any more", target.Application)
	case settings.Land == config.LandPush:
		words = fmt.Sprintf("%s is pushed to %s now", target.Application, target.Environment)
	default:
		words = fmt.Sprintf("the applications of %s share one pull request now", target.Environment)
	}
	return promotion.Reason{Rule: promotion.RuleGone, Message: words}
}

func foreign(open promotion.Open) promotion.Reason {
	return promotion.Reason{Rule: promotion.RuleForeign, Message: open.Foreign}
}
