package promotion

import (
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/image"
)

// Question is something that only a registry can tell about a version in a file.
type Question struct {
	Fact
	Component string // one that the question is asked for
	Created   bool   // the date is needed too, not only the digest
}

// Questions returns what Plan would like to know, given the offers: the digests
// behind tags that differ, because two tags of one digest are no roll-out, where
// the tags of parents point now, and dates where only they give an order. It asks
// nothing that would change no decision. The questions are sorted and each stands
// once.
func Questions(observed Observed) []Question {
	survey, asked := newSurvey(observed), questions{}
	for _, environment := range survey.environments() {
		for _, application := range survey.applications[environment] {
			p := newPlanner(survey, Place{environment, application}, time.Time{})
			for _, s := range p.standing {
				p.ask(asked, s)
			}
		}
	}
	return asked.sorted()
}

// questions are collected here, each once.
type questions map[Fact]Question

func (q questions) sorted() []Question {
	return slices.SortedFunc(maps.Values(q), func(a, b Question) int { return strings.Compare(a.key(), b.key()) })
}

// note asks for what is not known about a version.
func (q questions) note(of standing, v image.Version, created bool) {
	if v.Digest != "" && (!created || image.KnownCreated(v.Created)) {
		return
	}
	fact := Fact{Repository: of.repository, Tag: v.Tag, Digest: v.Digest}
	q[fact] = Question{Fact: fact, Component: of.component, Created: created || q[fact].Created}
}

// ask notes what is not known about the versions that a component may move to.
func (p *planner) ask(asked questions, here standing) {
	if len(p.settings.After) == 0 {
		if offer := p.Offers[here.component]; offer.Found && !offer.Given {
			there := standing{component: here.component, repository: here.repository, versions: []image.Version{offer.Version}}
			p.askBetween(asked, here, there)
		}
		return
	}
	for _, source := range p.sources {
		if there, ok := p.standingIn(source, here.component); ok {
			p.askBetween(asked, here, there)
			p.askAgain(asked, here, there)
			p.askTagged(asked, there)
		}
	}
}

// askBetween notes what is not known about two standings that look different.
func (p *planner) askBetween(asked questions, here, there standing) {
	policy := p.Policies[here.component]
	created := isMoving(policy) || policy != nil && policy.NeedsCreated()
	for _, a := range here.versions {
		for _, b := range there.versions {
			if SameRollout(a, b) {
				continue
			}
			asked.note(here, a, created)
			asked.note(there, b, created)
		}
	}
}

// askAgain notes the tags that would be taken from a parent: they may point
// elsewhere by now. See recheck.
func (p *planner) askAgain(asked questions, here, there standing) {
	if p.moving(here.component) {
		return
	}
	for _, v := range there.versions {
		if v.Tag != "" && here.differs(v, false) {
			asked.note(there, image.Version{Tag: v.Tag}, false)
		}
	}
}

// askTagged notes the tags that conditions look at, and the digests that these
// are compared with.
func (p *planner) askTagged(asked questions, wanted standing) {
	for _, parent := range p.settings.After {
		if parent.Tagged == "" {
			continue
		}
		asked.note(wanted, image.Version{Tag: parent.Tagged}, false)
		for _, v := range wanted.versions {
			asked.note(wanted, v, false)
		}
	}
}

func (q Question) key() string { return q.Repository.String() + ":" + q.Tag + "@" + q.Digest }
