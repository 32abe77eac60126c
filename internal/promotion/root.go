package promotion

import (
	"slices"

	"promoter/internal/image"
)

// fromRegistry decides about a place that takes its versions from registries: a
// new snapshot is the newer versions plus what its files say of the others.
func (p *planner) fromRegistry() Decision {
	var moves []Move
	var kept []Reason
	for _, s := range p.standing {
		move, moved, why := p.fromOffer(s)
		if moved {
			moves = append(moves, move)
		} else if why.Message != "" {
			kept = append(kept, why)
		}
	}
	if len(moves) == 0 {
		return p.nothingOffered(kept)
	}
	wanted, blocking, shown := p.settled(moves)
	if reason, apart := p.versionsApart(wanted); apart {
		return p.waiting(wanted, reason)
	}
	d := p.propose(wanted, p.reasonOf(wanted), blocking)
	d.Conditions = slices.Concat(d.Conditions, shown, p.holdbacks(), stayedBack(kept))
	return d
}

// settled returns the moves to go on with, what they wait for, and what is only
// shown. In a checkout nothing is open.
func (p *planner) settled(moves []Move) (wanted []Move, blocking, shown []Condition) {
	if p.Checkout {
		return moves, p.settle(moves), nil
	}
	wanted, blocking, shown = p.newer(moves)
	return wanted, append(blocking, p.settle(wanted)...), shown
}

// stayedBack shows beside what moves the moving tags that went back, and the
// versions that people do not want: they hold no other component up, and are
// somebody's act.
func stayedBack(kept []Reason) []Condition {
	var conditions []Condition
	for _, why := range kept {
		switch why.Rule {
		case RuleBackwards:
			conditions = append(conditions, Condition{Name: "moving tag", State: Pending, Reason: why.Message})
		case RuleRejected, RuleReverted:
			conditions = append(conditions, Condition{Name: string(why.Rule), State: Pending, Reason: why.Message})
		}
	}
	return conditions
}

// fromOffer decides about one component: it moves, or stays with a reason, or
// stays because nothing differs. One that people do not want stays, and no older
// one is taken instead; the others go on without it.
func (p *planner) fromOffer(s standing) (Move, bool, Reason) {
	available, asked := p.Available[s.component]
	if !asked {
		return Move{}, false, Reason{}
	}
	if available.Err != nil {
		return Move{}, false, noAnswer(s.component, available.Err)
	}
	if !available.Found {
		return Move{}, false, p.notOffered(s, available)
	}
	policy := p.Policies[s.component]
	if !s.differs(available.Version, available.needsDigest(policy)) {
		return Move{}, false, Reason{}
	}
	if present, back := s.newerThan(available.Version, policy); back && !available.Explicit {
		return Move{}, false, keptBack(s.component, present, available.Version, policy)
	}
	move := s.move(available.Version)
	if _, why, answered := p.answerTo(move); answered && !available.Explicit {
		return Move{}, false, why
	}
	return move, true, Reason{}
}

// keptBack says why an older offer is not taken. An ordered tag list that ends
// lower than what is here means nothing: a tag was removed, or the list was not
// whole. A moving tag that went back is somebody's act, and is shown.
func keptBack(component string, from, to image.Version, policy *image.Policy) Reason {
	if isMoving(policy) {
		return movedBack(component, from, to)
	}
	return holdsNewer(component, from, to)
}

// notOffered says why there is nothing for a component, unless the best that may
// not be taken is what it holds already.
func (p *planner) notOffered(s standing, available Available) Reason {
	if len(available.Held) > 0 && p.holds(s, available.Held[0]) {
		return Reason{}
	}
	return noVersion(s.component, available)
}

// holds says whether a version that is held back stands in the files already. A
// tag without a digest names no image, and so nothing that could be here.
func (p *planner) holds(s standing, held HeldVersion) bool {
	return held.Version.Digest != "" && !s.differs(held.Version, p.moving(s.component))
}

func isMoving(policy *image.Policy) bool {
	if policy == nil {
		return false
	}
	_, moving := policy.Moving()
	return moving
}

// nothingOffered is the decision where no component moves.
func (p *planner) nothingOffered(kept []Reason) Decision {
	d := p.decision(Same, AlreadySame())
	d.Conditions = p.holdbacks()
	weight := 0
	for _, why := range kept {
		if state, w := stateOf(why.Rule); w > weight {
			d.State, d.Reason, weight = state, why, w
		}
	}
	return d
}

// stateOf returns the state that the reason of one component gives its place,
// and how much it weighs against the reasons of the others.
func stateOf(rule Rule) (State, int) {
	switch rule {
	case RuleRegistry:
		return Unanswered, 3
	case RuleRejected:
		return Rejected, 2
	case RuleReverted:
		return Reverted, 2
	case RuleSame:
		return Same, 1
	default:
		return Waiting, 2
	}
}

func (p *planner) reasonOf(moves []Move) Reason {
	for _, move := range moves {
		if !p.Available[move.Component].Explicit {
			return newer(moves)
		}
	}
	return given(moves)
}

// holdbacks are the newer versions that may not be taken yet, but for what is
// here already, and the components of which there is no version at all. A version
// that waits holds no other up.
func (p *planner) holdbacks() []Condition {
	var conditions []Condition
	for _, s := range p.standing {
		available := p.Available[s.component]
		for _, held := range available.Held {
			if !p.holds(s, held) {
				conditions = append(conditions, held.Condition)
			}
		}
		if !available.Found && available.Reason != "" && len(available.Held) == 0 {
			conditions = append(conditions, Condition{Name: s.component, State: Pending, Reason: available.Reason})
		}
	}
	return conditions
}

// versionsApart says whether the application wants one version for all its
// components and this snapshot has several.
func (p *planner) versionsApart(moves []Move) (Reason, bool) {
	if !p.Config.Application(p.place.Application).SameVersion {
		return Reason{}, false
	}
	snapshot := p.snapshot(moves)
	components := snapshot.Components()
	first := versionText(snapshot[components[0]].Version)
	for _, component := range components[1:] {
		if versionText(snapshot[component].Version) != first {
			return Reason{Rule: RuleSameVersion, Message: "sameVersion: the components differ: " + snapshot.String()}, true
		}
	}
	return Reason{}, false
}

func versionText(v image.Version) string {
	if v.Version != "" {
		return v.Version
	}
	return v.Tag
}
