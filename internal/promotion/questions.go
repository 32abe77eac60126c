package promotion

import (
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/image"
)

// Lookup is something that only a registry can tell about a version in a file.
type Lookup struct {
	Fact
	Component string // one that the question is asked for
	Created   bool   // the date is needed too, not only the digest
}

// Lookups returns what Plan would like to know, given the offers: the digests
// behind tags that differ, because two tags of one digest are no roll-out, where
// the tags of parents point now, and dates where only they give an order. It asks
// nothing that would change no decision. The questions are sorted and each stands
// once.
func Lookups(observation Observation) []Lookup {
	survey, asked := newSurvey(observation), questions{}
	for _, environment := range survey.Scope() {
		for _, application := range survey.applications[environment] {
			p := newPlanner(survey, Target{environment, application}, time.Time{})
			for i := range p.standing {
				p.ask(asked, i)
			}
		}
	}
	return asked.sorted()
}

// questions are collected here, each once.
type questions map[Fact]Lookup

func (q questions) sorted() []Lookup {
	return slices.SortedFunc(maps.Values(q), func(a, b Lookup) int { return strings.Compare(a.key(), b.key()) })
}

// note asks for what is not known about a version.
func (q questions) note(of standing, v image.Version, created bool) {
	if v.Digest != "" && (!created || image.KnownCreated(v.Created)) {
		return
	}
	fact := Fact{Repository: of.repository, Tag: v.Tag, Digest: v.Digest}
	q[fact] = Lookup{Fact: fact, Component: of.component, Created: created || q[fact].Created}
}

// insist asks whether a version is there, whatever is known about it.
func (q questions) insist(of standing, fact Fact) {
	q[fact] = Lookup{Fact: fact, Component: of.component, Created: q[fact].Created}
}

// ask notes what is not known about the versions that a component may move to.
func (p *planner) ask(asked questions, i int) {
	here := p.standing[i]
	p.askBack(asked, here)
	p.askCarried(asked, here)
	if len(p.settings.After) == 0 {
		if available := p.Available[here.component]; available.Found && !available.Explicit {
			p.askBetween(asked, here, available.Version)
		}
		return
	}
	for _, source := range p.sources {
		for _, version := range p.candidatesIn(source, i) {
			p.askBetween(asked, here, version)
			p.askAgain(asked, here, version)
			p.askTagged(asked, here, version)
		}
	}
}

// candidatesIn returns the versions of a component that may come from a source: in
// a checkout those of its files, else what stood there since the one that is here.
func (p *planner) candidatesIn(source Target, i int) []image.Version {
	if p.Checkout {
		there, _ := p.standingIn(source, p.standing[i].component)
		return there.versions
	}
	p.lookBack()
	var versions []image.Version
	for _, stood := range p.stretches(source) {
		if isNone(stood.versions[i]) || !p.standing[i].differs(stood.versions[i], p.moving(p.standing[i].component)) {
			break
		}
		versions = append(versions, stood.versions[i])
	}
	return versions
}

// askBetween notes what is not known about what stands here and a version that
// looks different. Which digest a tag was in a parent, no registry can tell.
func (p *planner) askBetween(asked questions, here standing, there image.Version) {
	policy := p.Policies[here.component]
	created := isMoving(policy) || policy != nil && policy.NeedsCreated()
	carried := len(p.settings.After) > 0 && !p.Checkout
	for _, v := range here.versions {
		if SameRollout(v, there) {
			continue
		}
		asked.note(here, v, created)
		if there.Digest != "" || !carried {
			asked.note(here, there, created)
		}
	}
}

// askAgain notes the tags that would be taken from a parent: they may point
// elsewhere by now. See recheck.
func (p *planner) askAgain(asked questions, here standing, there image.Version) {
	switch {
	case !here.differs(there, false):
	case !p.Checkout:
		asked.insist(here, p.askedAgain(here.component, there))
	case there.Tag != "" && !p.moving(here.component):
		asked.note(here, image.Version{Tag: there.Tag}, false)
	}
}

// askTagged notes the tags that conditions look at, and the digests that these
// are compared with.
func (p *planner) askTagged(asked questions, here standing, there image.Version) {
	for _, parent := range p.settings.After {
		if parent.Tagged == "" {
			continue
		}
		asked.note(here, image.Version{Tag: parent.Tagged}, false)
		if p.Checkout {
			asked.note(here, there, false)
		}
	}
}

func (q Lookup) key() string { return q.Repository.String() + ":" + q.Tag + "@" + q.Digest }
