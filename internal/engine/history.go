package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/image"
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
	places   map[promotion.Target]bool // of which anything is asked
	standing map[promotion.Target]bool // of which the landing of the present snapshot is asked
}

// lookBack reads from the history of the branches what stood where, for the places
// in which something would move, and for those that it would come from.
func (v *view) lookBack(ctx context.Context) error {
	v.landings = map[promotion.Target]map[string]int{}
	v.observed.Landings = map[promotion.Target][]promotion.Landing{}
	v.observed.Reverted = map[promotion.Target][]promotion.Reversion{}
	interests := v.interests()
	for _, branch := range sortedKeys(interests) {
		in := interests[branch]
		err := v.lookBackAt(ctx, branch, in)
		if err == nil {
			continue
		}
		err = fmt.Errorf("read the history of %s: %w", branch, err)
		for _, target := range slices.SortedFunc(maps.Keys(in.places), promotion.Target.Compare) {
			if err := v.away(ctx, target.Environment, err); err != nil {
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
	for target := range v.observed.Targets {
		if v.rollsBack(target) {
			v.interested(found, target, longAgo, true)
		}
		parents := v.parentsOf(target)
		if len(parents) == 0 {
			v.interestInOffers(found, target)
			continue
		}
		for _, parent := range parents {
			from := promotion.Target{Environment: parent.Environment, Application: target.Application}
			if v.sameText(from, target) {
				continue
			}
			v.interested(found, target, month, false)
			v.interested(found, from, max(month, 2*parent.Soak), true)
		}
	}
	return found
}

// rollsBack says whether a place was rolled back and does not hold that yet. What
// goes back has to have stood there.
func (v *view) rollsBack(target promotion.Target) bool {
	back := v.observed.State.At(state.Target(target)).Rollback
	return back != nil && slices.ContainsFunc(v.observed.Targets[target].References, func(r edit.Reference) bool {
		wanted, err := image.Parse(back.Images[r.Component])
		return err == nil && (wanted.Tag != r.Tag || wanted.Digest != r.Digest)
	})
}

// parentsOf returns the parents of a place, with those behind a parent in which
// the application is absent.
func (v *view) parentsOf(target promotion.Target) []config.Parent {
	var parents []config.Parent
	for _, parent := range v.observed.Config.Settings(target.Environment, target.Application).After {
		at := promotion.Target{Environment: parent.Environment, Application: target.Application}
		if _, here := v.observed.Targets[at]; here {
			parents = append(parents, parent)
		} else {
			parents = append(parents, v.parentsOf(at)...)
		}
	}
	return parents
}

func (v *view) interestInOffers(found map[string]*interest, target promotion.Target) {
	for _, r := range v.observed.Targets[target].References {
		available := v.observed.Available[r.Component]
		if !available.Found || promotion.SameRollout(available.Version, image.Version{Tag: r.Tag, Digest: r.Digest}) {
			continue
		}
		back := month
		if created := available.Version.Created; image.KnownCreated(created) && created.Before(v.now) {
			back = min(v.now.Sub(created)+24*time.Hour, longAgo)
		}
		v.interested(found, target, back, false)
	}
}

func (v *view) interested(found map[string]*interest, target promotion.Target, back time.Duration, standing bool) {
	environment, _ := v.observed.Config.Environment(target.Environment)
	branch := v.branchOf(*environment)
	if v.heads[branch] == "" {
		return
	}
	in, known := found[branch]
	if !known {
		in = &interest{since: v.now, places: map[promotion.Target]bool{}, standing: map[promotion.Target]bool{}}
		found[branch] = in
	}
	if since := v.now.Add(-back); since.Before(in.since) {
		in.since = since
	}
	in.places[target] = true
	if standing {
		in.standing[target] = true
	}
}

// sameText says whether two places say the same of every component of the second.
func (v *view) sameText(from, target promotion.Target) bool {
	there := map[string]image.Version{}
	for _, r := range v.observed.Targets[from].References {
		there[r.Component] = image.Version{Tag: r.Tag, Digest: r.Digest}
	}
	for _, r := range v.observed.Targets[target].References {
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
	for _, target := range slices.SortedFunc(maps.Keys(in.places), promotion.Target.Compare) {
		err := v.learn(ctx, target, landed[target], in.standing[target])
		if err := v.away(ctx, target.Environment, err); err != nil {
			return err
		}
	}
	return nil
}

// walk collects the landings in a branch's first-parent history, newest first, and
// the time to which it is readable; zero when that is the beginning.
func (v *view) walk(branch string, in *interest) (map[promotion.Target][]promotion.Landing, time.Time, error) {
	found := map[promotion.Target][]promotion.Landing{}
	n := 0
	for commit, err := range v.Objects.History(v.heads[branch]) {
		if err != nil {
			return nil, time.Time{}, err
		}
		for _, landed := range promotion.ReadTrailers(v.trailersOf(commit)) {
			if in.places[landed.Target] {
				found[landed.Target] = append(found[landed.Target], promotion.Landing{Commit: commit.ID, Snapshot: landed.Snapshot})
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

func (v *view) allFound(in *interest, found map[promotion.Target][]promotion.Landing) bool {
	for target := range in.standing {
		if v.standingAmong(target, found[target]) < 0 {
			return false
		}
	}
	return true
}

// standingAmong returns which landing is what the files of the place say now.
func (v *view) standingAmong(target promotion.Target, landings []promotion.Landing) int {
	return slices.IndexFunc(landings, func(l promotion.Landing) bool { return v.stands(target, l.Snapshot) })
}

func (v *view) stands(target promotion.Target, snapshot promotion.Snapshot) bool {
	present := v.observed.Targets[target]
	for _, r := range present.References {
		if _, known := snapshot[r.Component]; !known {
			return false
		}
	}
	return says(present, snapshot)
}

// says whether files hold the versions of a snapshot. They may refer to more than it
// knows of.
func says(present promotion.Current, snapshot promotion.Snapshot) bool {
	for component, pinned := range snapshot {
		if !holds(present, component, pinned) {
			return false
		}
	}
	return len(present.References) > 0
}
