package promotion

import (
	"fmt"
	"maps"
	"slices"

	"promoter/internal/config"
	"promoter/internal/state"
)

// left says what becomes of an open pull request of an application that is not
// proposed: it is closed only where the files, a person or the config tell that
// nothing can come of it. Whatever else is in the way may pass.
func (a *arranger) left(m member, open Open) (Step, Reason) {
	switch {
	case open.Foreign != "":
		return StepKeep, foreign(open)
	case m.State == Refused || m.State == Unanswered || m.State == NotCheckedOut:
		return StepKeep, m.Reason
	case m.State == Absent || m.State == NoReference:
		return StepClose, m.Reason
	}
	p := a.planner(m.Target)
	snapshot, told := open.Snapshots[m.Application]
	if told && !p.differsFrom(snapshot) {
		return StepClose, AlreadySame()
	}
	if m.Request != nil || p.State.At(state.Target(m.Target)).Rollback != nil {
		return StepKeep, m.Reason
	}
	moves := p.movesTo(snapshot)
	for _, move := range moves {
		if why, taken := p.takenBack(move); taken {
			return StepClose, why
		}
	}
	held, isHeld := a.State.Held(state.Target(m.Target), a.now)
	switch {
	case isHeld:
		return StepKeep, heldBy(held)
	case !told && m.State == Waiting:
		return StepKeep, m.Reason
	case !told:
		return StepClose, m.Reason
	}
	return p.unwanted(m, moves)
}

// unwanted closes what no longer is a way forward.
func (p *planner) unwanted(m member, moves []Move) (Step, Reason) {
	if len(moves) == 0 {
		return StepClose, Reason{Rule: RuleSame, Message: "the files are ahead of it"}
	}
	for _, move := range moves {
		switch {
		case !p.selects(move):
			return StepClose, Reason{Rule: RuleGone, Message: "the config does not select it any more: " + targetsInWords([]Move{move})}
		case m.State == Same && !p.comesFrom(move):
			return StepClose, Reason{Rule: RuleSame, Message: "no environment before holds it any more: " + targetsInWords([]Move{move})}
		}
	}
	if why, never := p.neverProposed(); never {
		return StepClose, why
	}
	return StepKeep, m.Reason
}

// differsFrom says whether the files hold anything else than a snapshot.
func (p *planner) differsFrom(snapshot Snapshot) bool {
	return slices.ContainsFunc(p.standing, func(s standing) bool {
		pinned, has := snapshot[s.component]
		return has && s.differs(pinned.Version, p.moving(s.component))
	})
}

// comesFrom says whether a version still can come into the place: it stands, or
// stood, in an environment before it. Of what comes from a registry silence says
// nothing.
func (p *planner) comesFrom(move Move) bool {
	if len(p.settings.After) == 0 {
		return true
	}
	return slices.ContainsFunc(p.sources, func(source Target) bool {
		there, has := p.standingIn(source, move.Component)
		return has && !there.differs(move.To, false) || slices.ContainsFunc(p.Landings[source], func(l Landing) bool {
			pinned, landed := l.Snapshot[move.Component]
			return landed && SameRollout(pinned.Version, move.To)
		})
	})
}

// leftovers arranges the pull requests that no decision speaks of.
func (a *arranger) leftovers() {
	for _, branch := range slices.Sorted(maps.Keys(a.Open)) {
		target, ours := ParseHead(branch)
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
			p.Step, p.Reason = StepKeep, Reason{Rule: RuleBranch, Message: why}
		}
		if open.Foreign != "" {
			p.Step, p.Reason = StepKeep, foreign(open)
		}
		a.add(p)
	}
}

// gone says why a branch of ours stands for nothing any more.
func (a *arranger) gone(target Target, settings config.Environment, known bool) Reason {
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
	return Reason{Rule: RuleGone, Message: words}
}

func foreign(open Open) Reason { return Reason{Rule: RuleForeign, Message: open.Foreign} }
