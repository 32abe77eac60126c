package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// How far back history is read. A version cannot have stood anywhere before it was
// made; where nobody says when that was, and to find what a child may still take,
// a month has to do. The landing of what stands there now may be older.
const (
	month   = 30 * 24 * time.Hour
	longAgo = 400 * 24 * time.Hour
	// maxCommits bounds one walk.
	maxCommits = 20_000
)

// interest is what has to be learnt from the history of one branch.
type interest struct {
	since    time.Time
	places   map[promotion.Place]bool // of which anything is asked
	standing map[promotion.Place]bool // of which the landing of the present snapshot is asked
}

// lookBack reads from the history of the branches what stood where, for the places
// in which something would move, and for those that it would come from.
func (v *view) lookBack(ctx context.Context) error {
	v.landings = map[promotion.Place]map[string]int{}
	v.observed.Landings = map[promotion.Place][]promotion.Landing{}
	v.observed.Taken = map[promotion.Place][]promotion.Taken{}
	interests := v.interests()
	for _, branch := range sortedKeys(interests) {
		in := interests[branch]
		err := v.lookBackAt(ctx, branch, in)
		if err == nil {
			continue
		}
		err = fmt.Errorf("read the history of %s: %w", branch, err)
		for _, place := range slices.SortedFunc(maps.Keys(in.places), promotion.Place.Compare) {
			if err := v.away(ctx, place.Environment, err); err != nil {
				return err
			}
		}
	}
	if len(interests) > 0 { // earlier snapshots raise questions of their own
		v.askFacts(ctx)
	}
	return ctx.Err()
}

// interests says what is to be learnt. Where nothing differs, nothing is.
func (v *view) interests() map[string]*interest {
	found := map[string]*interest{}
	for place := range v.observed.Places {
		if v.rollsBack(place) {
			v.interested(found, place, longAgo, true)
		}
		parents := v.parentsOf(place)
		if len(parents) == 0 {
			v.interestInOffers(found, place)
			continue
		}
		for _, parent := range parents {
			from := promotion.Place{Environment: parent.Environment, Application: place.Application}
			if v.sameText(from, place) {
				continue
			}
			v.interested(found, place, month, false)
			v.interested(found, from, max(month, 2*parent.Soak), true)
		}
	}
	return found
}

// rollsBack says whether a place was rolled back and does not hold that yet. What
// goes back has to have stood there.
func (v *view) rollsBack(place promotion.Place) bool {
	back := v.observed.State.At(state.Place(place)).Rollback
	return back != nil && slices.ContainsFunc(v.observed.Places[place].References, func(r edit.Reference) bool {
		wanted, err := image.Parse(back.Images[r.Component])
		return err == nil && (wanted.Tag != r.Tag || wanted.Digest != r.Digest)
	})
}

// parentsOf returns the parents of a place, with those behind a parent in which
// the application is absent.
func (v *view) parentsOf(place promotion.Place) []config.Parent {
	var parents []config.Parent
	for _, parent := range v.observed.Config.Settings(place.Environment, place.Application).After {
		at := promotion.Place{Environment: parent.Environment, Application: place.Application}
		if _, here := v.observed.Places[at]; here {
			parents = append(parents, parent)
		} else {
			parents = append(parents, v.parentsOf(at)...)
		}
	}
	return parents
}

func (v *view) interestInOffers(found map[string]*interest, place promotion.Place) {
	for _, r := range v.observed.Places[place].References {
		offer := v.observed.Offers[r.Component]
		if !offer.Found || promotion.SameRollout(offer.Version, image.Version{Tag: r.Tag, Digest: r.Digest}) {
			continue
		}
		back := month
		if created := offer.Version.Created; image.KnownCreated(created) && created.Before(v.now) {
			back = min(v.now.Sub(created)+24*time.Hour, longAgo)
		}
		v.interested(found, place, back, false)
	}
}

func (v *view) interested(found map[string]*interest, place promotion.Place, back time.Duration, standing bool) {
	environment, _ := v.observed.Config.Environment(place.Environment)
	branch := v.branchOf(*environment)
	if v.heads[branch] == "" {
		return
	}
	in, known := found[branch]
	if !known {
		in = &interest{since: v.now, places: map[promotion.Place]bool{}, standing: map[promotion.Place]bool{}}
		found[branch] = in
	}
	if since := v.now.Add(-back); since.Before(in.since) {
		in.since = since
	}
	in.places[place] = true
	if standing {
		in.standing[place] = true
	}
}

// sameText says whether two places say the same of every component of the second.
func (v *view) sameText(from, place promotion.Place) bool {
	there := map[string]image.Version{}
	for _, r := range v.observed.Places[from].References {
		there[r.Component] = image.Version{Tag: r.Tag, Digest: r.Digest}
	}
	for _, r := range v.observed.Places[place].References {
		if other, found := there[r.Component]; found && (other.Tag != r.Tag || other.Digest != r.Digest) {
			return false
		}
	}
	return true
}

// lookBackAt walks one branch, and asks for more of its history only when what is
// readable does not reach back far enough.
func (v *view) lookBackAt(ctx context.Context, branch string, in *interest) error {
	landed, reached, err := v.walk(branch, in)
	if err != nil {
		return err
	}
	for _, since := range []time.Time{in.since, v.now.Add(-longAgo)} {
		if reached.IsZero() || !reached.After(since) || since != in.since && v.allFound(in, landed) {
			continue
		}
		if err := v.Remote.Deepen(ctx, branch, since); err != nil {
			return fmt.Errorf("deepen it: %w", err)
		}
		in.since = since
		if landed, reached, err = v.walk(branch, in); err != nil {
			return err
		}
	}
	for _, place := range slices.SortedFunc(maps.Keys(in.places), promotion.Place.Compare) {
		err := v.learn(ctx, place, landed[place], in.standing[place])
		if err := v.away(ctx, place.Environment, err); err != nil {
			return err
		}
	}
	return nil
}

// walk collects the landings in a branch's first-parent history, newest first, and
// the time to which it is readable; zero when that is the beginning.
func (v *view) walk(branch string, in *interest) (map[promotion.Place][]promotion.Landing, time.Time, error) {
	found := map[promotion.Place][]promotion.Landing{}
	n := 0
	for commit, err := range v.Objects.History(v.heads[branch]) {
		if err != nil {
			return nil, time.Time{}, err
		}
		for _, landed := range promotion.ReadTrailers(v.trailersOf(commit)) {
			if in.places[landed.Place] {
				found[landed.Place] = append(found[landed.Place], promotion.Landing{Commit: commit.ID, Snapshot: landed.Snapshot})
			}
		}
		if n++; commit.Shallow {
			return found, commit.Committer.When, nil
		}
		if commit.Committer.When.Before(in.since) && v.allFound(in, found) || n == maxCommits {
			break
		}
	}
	return found, time.Time{}, nil
}

// trailersOf reads the trailers of a commit; of a merge, those of what was merged.
func (v *view) trailersOf(commit Commit) []promotion.Trailer {
	if len(promotion.ReadTrailers(commit.Trailers)) > 0 || len(commit.Parents) != 2 {
		return commit.Trailers
	}
	merged, err := v.Objects.Commit(commit.Parents[1])
	if err != nil {
		return nil // not readable: then only the forge can tell
	}
	return merged.Trailers
}

func (v *view) allFound(in *interest, found map[promotion.Place][]promotion.Landing) bool {
	for place := range in.standing {
		if v.standingAmong(place, found[place]) < 0 {
			return false
		}
	}
	return true
}

// standingAmong returns which landing is what the files of the place say now.
func (v *view) standingAmong(place promotion.Place, landings []promotion.Landing) int {
	return slices.IndexFunc(landings, func(l promotion.Landing) bool { return v.stands(place, l.Snapshot) })
}

func (v *view) stands(place promotion.Place, snapshot promotion.Snapshot) bool {
	present := v.observed.Places[place]
	for _, r := range present.References {
		if _, known := snapshot[r.Component]; !known {
			return false
		}
	}
	return says(present, snapshot)
}

// says whether files hold the versions of a snapshot. They may refer to more than it
// knows of.
func says(present promotion.Present, snapshot promotion.Snapshot) bool {
	for component, pinned := range snapshot {
		if !holds(present, component, pinned) {
			return false
		}
	}
	return len(present.References) > 0
}
