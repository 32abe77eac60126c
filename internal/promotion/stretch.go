package promotion

import (
	"slices"
	"time"

	"promoter/internal/image"
)

// stretch is the time for which one snapshot stood in a source: landings in a row
// that are one roll-out to the components of the place. A landing that moved other
// components only does not end it.
type stretch struct {
	versions []image.Version // by index of planner.standing; zero: the source does not refer to it
	at       time.Time       // since when provably; zero: not known
	until    time.Time       // zero: it stands there now
	checks   []Check         // of the newest landing
	past     bool            // another snapshot stands there now
	taken    bool            // a person took it back
	unclear  []Reason        // by index too, why it tells no version; nil: it tells all
}

// stretchesIn returns what stands in a source and, after lookBack, what stood
// there, newest first. Where what stands there tells no snapshot, it is all.
func (p *planner) stretchesIn(source Target) []stretch {
	found := []stretch{p.presentIn(source)}
	if found[0].unclear != nil {
		return found
	}
	for i, landing := range p.Landings[source] {
		last := &found[len(found)-1]
		if p.sameIn(landing.Snapshot, last.versions) {
			last.extend(landing, i == 0)
			continue
		}
		if !p.back {
			break
		}
		versions, whole := p.versionsIn(landing.Snapshot, found[0].versions)
		if !whole {
			break
		}
		found = append(found, stretch{
			versions: versions, at: landing.At, until: landing.Until,
			checks: landing.Checks, taken: landing.TakenBack, past: true,
		})
	}
	return found
}

// lookBack has stretches tell what stood in the sources too. Most places take what
// stands there now, and need not ask.
func (p *planner) lookBack() {
	if !p.back {
		p.back, p.stood = true, nil
	}
}

// stretches returns the same as stretchesIn, asked once for each source.
func (p *planner) stretches(source Target) []stretch {
	i := slices.Index(p.sources, source)
	if i < 0 {
		return p.stretchesIn(source)
	}
	if p.stood == nil {
		p.stood = make([][]stretch, len(p.sources))
	}
	if p.stood[i] == nil {
		p.stood[i] = p.stretchesIn(source)
	}
	return p.stood[i]
}

// extend begins a stretch earlier: an older landing in the row held the same. The
// checks are those of the newest one, whose commit stands there.
func (s *stretch) extend(landing Landing, newest bool) {
	if newest {
		s.checks = landing.Checks
	}
	if !landing.At.IsZero() {
		s.at = landing.At
	}
}

// presentIn is what the files of a source say now.
func (p *planner) presentIn(source Target) stretch {
	present := stretch{versions: make([]image.Version, len(p.standing))}
	for i, s := range p.standing {
		there, found := p.standingIn(source, s.component)
		if !found {
			continue
		}
		if why, unclear := p.unclear(source, there); unclear {
			if present.unclear == nil {
				present.unclear = make([]Reason, len(p.standing))
			}
			present.unclear[i] = why
			continue
		}
		present.versions[i] = there.told
	}
	return present
}

// unclear says why the files of a source tell no version of a component.
func (p *planner) unclear(source Target, there standing) (Reason, bool) {
	if _, agreed := there.agreed(); !agreed {
		return disagrees(source.Environment, there), true
	}
	if there.told.Digest == "" && p.moving(there.component) {
		return digestUnknown(source.Environment, there.component, there.told), true
	}
	return Reason{}, false
}

// sameIn says whether a landed snapshot is what a stretch holds of the components
// that its source refers to.
func (p *planner) sameIn(landed Snapshot, versions []image.Version) bool {
	for i, s := range p.standing {
		pinned := landed[s.component]
		if isNone(versions[i]) {
			continue
		}
		if !SameRollout(pinned.Version, versions[i]) || pinned.Repository != s.repository {
			return false
		}
	}
	return true
}

// versionsIn returns what a landed snapshot says of the components that its source
// refers to now; false when it does not say all of them: it is from before a
// component was there, or came from another repository.
func (p *planner) versionsIn(landed Snapshot, present []image.Version) ([]image.Version, bool) {
	versions := make([]image.Version, len(p.standing))
	for i, s := range p.standing {
		if isNone(present[i]) {
			continue
		}
		pinned, has := landed[s.component]
		if !has || pinned.Repository != s.repository {
			return nil, false
		}
		versions[i] = p.Facts.described(s.repository, pinned.Version)
	}
	return versions, true
}

// isNone says whether there is no version at all.
func isNone(v image.Version) bool { return v.Tag == "" && v.Digest == "" }

// left says why what stood in a source is not taken from there any more: a person
// took it back, or the source itself went back from it.
func (p *planner) left(stretches []stretch, i int) (string, bool) {
	if !stretches[i].past {
		return "", false
	}
	if stretches[i].taken {
		return "it was taken back there", true
	}
	for c := range p.standing {
		if p.wentBack(stretches, i, c) {
			return "what came after it there moved back", true
		}
	}
	return "", false
}

// wentBack says whether a source moved a component back from an old snapshot: what
// came later is older, or had been there before.
func (p *planner) wentBack(stretches []stretch, i, component int) bool {
	was := stretches[i].versions[component]
	return slices.ContainsFunc(stretches[:i], func(later stretch) bool {
		now := later.versions[component]
		if isNone(was) || isNone(now) || SameRollout(was, now) {
			return false
		}
		return isNewer(was, now, p.Policies[p.standing[component].component]) ||
			slices.ContainsFunc(stretches[i+1:], func(earlier stretch) bool {
				return SameRollout(earlier.versions[component], now)
			})
	})
}
