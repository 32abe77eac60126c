package promotion

import (
	"slices"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/state"
)

// rollback decides about a place that a person rolled back: it wants exactly the
// images of the rollback, past conditions and order. Its gates stay. Once the
// files hold them there is nothing more to roll back, and the hold that came with
// it keeps everything else out.
func (p *planner) rollback() (Decision, bool) {
	back := p.State.At(state.Target(p.place)).Rollback
	if back == nil {
		return Decision{}, false
	}
	var moves []Move
	for _, s := range p.standing {
		text, named := back.Images[s.component]
		if !named {
			continue
		}
		to, read := p.rollbackTo(s, text)
		if !read {
			p.rolling = true
			return p.waiting(nil, rollbackUnreadable(s.component, text)), true
		}
		if !s.differs(to, p.moving(s.component)) {
			continue
		}
		if !p.stoodOnce(s, text) {
			p.rolling = true
			return p.waiting(nil, rollbackElsewhere(s.component, text)), true
		}
		moves = append(moves, s.move(to))
	}
	if len(moves) == 0 {
		return Decision{}, false
	}
	return p.rollBack(moves, *back), true
}

// rollbackTo reads the image that a rollback names for a component.
func (p *planner) rollbackTo(s standing, text string) (image.Version, bool) {
	to, err := image.Parse(text)
	if err != nil || to.Repository != s.repository {
		return image.Version{}, false
	}
	return p.Facts.described(s.repository, image.Version{Tag: to.Tag, Digest: to.Digest}), true
}

// stoodOnce says whether the image that a rollback names stood in the place, as
// the history of its branch tells. Only such a one goes past the conditions: what
// is written on the state branch alone would let anybody who may push that past
// them.
func (p *planner) stoodOnce(s standing, text string) bool {
	wanted, err := image.Parse(text)
	return err == nil && slices.ContainsFunc(p.Landings[p.place], func(l Landing) bool {
		pinned, has := l.Snapshot[s.component]
		if !has || pinned.Repository != s.repository {
			return false
		}
		if wanted.Digest != "" {
			return pinned.Version.Digest == wanted.Digest
		}
		return wanted.Tag != "" && pinned.Version.Tag == wanted.Tag
	})
}

// rollBack makes the decision. What people answered before, such as a rejection of
// these very versions, is older than their wish to have them. A registry that does
// not answer is no reason to keep what people want out: the image ran here.
func (p *planner) rollBack(moves []Move, back state.RolledBack) Decision {
	p.rolling = true
	d := p.draft(moves, rolledBack(moves, back), p.recheckBy(moves, p.askedBack))
	if blocking, blocked := FirstBlocking(d.Conditions, true); blocked {
		d.State, d.Reason = Waiting, BlockedBy(blocking)
	}
	if why, never := p.neverProposed(); never {
		d.State, d.Reason = Waiting, why
	}
	return p.refuse(d)
}

// askedBack is the question about an image of a rollback. Where the files hold
// digests, its tag may have moved: the very image comes back.
func (p *planner) askedBack(component string, v image.Version) Fact {
	byTag := slices.ContainsFunc(p.present.References, func(r edit.Reference) bool {
		return r.Component == component && r.Digest == ""
	})
	if byTag || v.Digest == "" {
		return p.askedAgain(component, v)
	}
	return Fact{Repository: p.repositoryOf(component), Digest: v.Digest}
}

// askBack notes what only a registry can tell about the images of a rollback.
func (p *planner) askBack(asked questions, here standing) {
	back := p.State.At(state.Target(p.place)).Rollback
	if back == nil {
		return
	}
	to, read := p.rollbackTo(here, back.Images[here.component])
	if read && here.differs(to, p.moving(here.component)) {
		asked.insist(here, p.askedBack(here.component, to))
	}
}
