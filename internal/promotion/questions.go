package promotion

import (
	"slices"
	"strings"
	"time"

	"promoter/internal/image"
)

// Question is something that only a registry can tell about a version in a file.
type Question struct {
	Fact
	Created bool // the date is needed too, not only the digest
}

// Questions returns what Plan would like to know, given the offers: the digests
// behind tags that differ, because two tags of one digest are no roll-out, and
// dates where only they give an order. It asks nothing that would change no
// decision. The questions are sorted and each stands once.
func Questions(observed Observed) []Question {
	asked := map[Fact]bool{}
	for place := range observed.Places {
		p := newPlanner(observed, place, time.Time{})
		for _, s := range p.standing {
			for _, wanted := range p.candidates(s) {
				p.ask(asked, s, wanted)
				p.askTagged(asked, wanted)
			}
		}
	}
	questions := make([]Question, 0, len(asked))
	for fact, created := range asked {
		questions = append(questions, Question{Fact: fact, Created: created})
	}
	slices.SortFunc(questions, func(a, b Question) int { return strings.Compare(a.key(), b.key()) })
	return questions
}

// candidates are the versions that a component of the place may be moved to.
func (p planner) candidates(s standing) []standing {
	if len(p.settings.After) > 0 {
		return p.candidatesFromParents(s)
	}
	offer := p.Offers[s.component]
	if !offer.Found || offer.Given {
		return nil
	}
	return []standing{{component: s.component, repository: s.repository, versions: []image.Version{offer.Version}}}
}

func (p planner) candidatesFromParents(s standing) []standing {
	var found []standing
	for _, source := range p.sources() {
		for _, there := range standings(p.Places[source], p.Facts) {
			if there.component == s.component {
				found = append(found, there)
			}
		}
	}
	return found
}

// ask notes what is not known about two standings that look different.
func (p planner) ask(asked map[Fact]bool, here, there standing) {
	policy := p.Policies[here.component]
	created := isMoving(policy) || policy != nil && policy.NeedsCreated()
	for _, a := range here.versions {
		for _, b := range there.versions {
			if SameRollout(a, b) {
				continue
			}
			note(asked, here.repository, a, created)
			note(asked, there.repository, b, created)
		}
	}
}

// askTagged notes the tags that conditions look at, and the digests that these
// are compared with.
func (p planner) askTagged(asked map[Fact]bool, wanted standing) {
	for _, parent := range p.settings.After {
		if parent.Tagged == "" {
			continue
		}
		note(asked, wanted.repository, image.Version{Tag: parent.Tagged}, false)
		for _, v := range wanted.versions {
			note(asked, wanted.repository, v, false)
		}
	}
}

func note(asked map[Fact]bool, repository image.Repository, v image.Version, created bool) {
	if v.Digest != "" && (!created || image.KnownCreated(v.Created)) {
		return
	}
	fact := Fact{Repository: repository, Tag: v.Tag, Digest: v.Digest}
	asked[fact] = asked[fact] || created
}

func (q Question) key() string { return q.Repository.String() + ":" + q.Tag + "@" + q.Digest }
