package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/scm"
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
	v.observed.Landings = map[promotion.Place][]promotion.Landing{}
	v.observed.Taken = map[promotion.Place][]promotion.Taken{}
	interests := v.interests()
	for _, branch := range sortedKeys(interests) {
		if err := v.lookBackAt(ctx, branch, interests[branch]); err != nil {
			return fmt.Errorf("read the history of %s: %w", branch, err)
		}
	}
	v.askFacts(ctx) // earlier snapshots raise questions of their own
	return ctx.Err()
}

// interests says what is to be learnt. Where nothing differs, nothing is.
func (v *view) interests() map[string]*interest {
	found := map[string]*interest{}
	for place := range v.observed.Places {
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
	for _, place := range slices.SortedFunc(maps.Keys(in.places), comparePlaces) {
		if err := v.learn(ctx, place, landed[place], in.standing[place]); err != nil {
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
	for component, pinned := range snapshot {
		if !holds(present, component, pinned) {
			return false
		}
	}
	return len(present.References) > 0
}

// learn makes landings and taken versions of what was found.
func (v *view) learn(ctx context.Context, place promotion.Place, found []promotion.Landing, standing bool) error {
	if standing {
		merged, err := v.mergedOf(ctx, place, found)
		if err != nil {
			return err
		}
		found = v.withMerged(place, found, merged)
	}
	landings := v.contiguous(place, found)
	taken, err := v.takenOf(ctx, place, found)
	if err != nil || !standing {
		v.observed.Taken[place] = taken
		return err
	}
	v.observed.Taken[place] = taken
	v.observed.Landings[place] = landings
	return v.checksOfLandings(ctx, place, landings)
}

// mergedOf asks the forge when the snapshots were merged, unless it is remembered.
func (v *view) mergedOf(ctx context.Context, place promotion.Place, found []promotion.Landing) ([]scm.PullRequest, error) {
	settings := v.observed.Settings(place.Environment, place.Application)
	if v.observed.PushOnly || settings.Land == config.LandPush {
		return nil, nil
	}
	if i := v.standingAmong(place, found); i >= 0 {
		if _, seen := v.observed.State.SeenAt(statePlace(place), found[i].Snapshot.ID()); seen {
			return nil, nil
		}
	}
	head := promotion.HeadBranch(place.Environment, place.Application)
	if settings.PullRequest.Group == config.GroupEnvironment {
		head = promotion.GroupBranch(place.Environment)
	}
	closed, err := v.Repository.PullRequests().Closed(ctx, head, closedLimit)
	if err != nil {
		return nil, fmt.Errorf("list the merged pull requests of %s: %w", head, err)
	}
	return slices.DeleteFunc(closed, func(pr scm.PullRequest) bool { return pr.State != scm.StateMerged || !pr.Head.Own }), nil
}

// withMerged gives landings the time of their merge. A landed commit without
// trailers, as some ways of merging make, gets them from the head that was merged,
// where the files say the same.
func (v *view) withMerged(place promotion.Place, found []promotion.Landing, merged []scm.PullRequest) []promotion.Landing {
	for _, pr := range merged {
		for _, landed := range promotion.ReadTrailers(v.Objects.Trailers(pr.Head.Message)) {
			if landed.Place != place {
				continue
			}
			id := landed.Snapshot.ID()
			i := slices.IndexFunc(found, func(l promotion.Landing) bool { return l.Snapshot.ID() == id && l.Number == 0 })
			switch {
			case i >= 0:
				found[i].Number, found[i].At = pr.Number, pr.Merged.At
			case v.standingAmong(place, found) < 0 && v.stands(place, landed.Snapshot):
				found = slices.Insert(found, 0, promotion.Landing{
					Commit: pr.Merged.Commit, Number: pr.Number, Snapshot: landed.Snapshot, At: pr.Merged.At,
				})
			}
		}
	}
	return found
}

// contiguous drops landings that repeat the one before, puts what the files say in
// front, and fills in the times.
func (v *view) contiguous(place promotion.Place, found []promotion.Landing) []promotion.Landing {
	var landings []promotion.Landing
	for _, l := range found {
		if n := len(landings); n > 0 && landings[n-1].Snapshot.ID() == l.Snapshot.ID() {
			landings[n-1] = l // the oldest contiguous commit that holds it
			continue
		}
		landings = append(landings, l)
	}
	at := v.standingAmong(place, landings)
	for i := range landings[:max(at, 0)] {
		landings[i].TakenBack = true
	}
	switch {
	case at > 0:
		again := landings[at]
		again.Commit, again.At = v.heads[v.baseOf(place)], time.Time{}
		landings = slices.Insert(landings, 0, again)
	case at < 0:
		landings = slices.Insert(landings, 0, promotion.Landing{Commit: v.heads[v.baseOf(place)], Snapshot: v.writtenIn(place)})
	}
	v.times(place, landings)
	return landings
}

// times fills in since when and until when each stood there, as far as anything
// proves it.
func (v *view) times(place promotion.Place, landings []promotion.Landing) {
	for i := range landings {
		l := &landings[i]
		if seen, known := v.observed.State.SeenAt(statePlace(place), l.Snapshot.ID()); known && (i == 0 || l.At.IsZero()) {
			l.At = seen
		} else if i == 0 && !l.At.IsZero() {
			v.rememberLanding(place, *l)
		}
		if i > 0 {
			l.Until = landings[i-1].At
			if l.Until.IsZero() {
				l.Until = v.now
			}
		}
	}
}

// writtenIn is what the files of a place say, word for word.
func (v *view) writtenIn(place promotion.Place) promotion.Snapshot {
	snapshot := promotion.Snapshot{}
	for _, r := range v.observed.Places[place].References {
		pinned := promotion.Pinned{Repository: r.Repository, Version: image.Version{Tag: r.Tag, Digest: r.Digest}}
		if known := snapshot[r.Component]; known.Version.Digest == "" {
			snapshot[r.Component] = pinned
		}
	}
	return snapshot
}

// takenOf returns the versions that stood in a place and do not now. Those that
// were gone already when the place was resumed are forgotten.
func (v *view) takenOf(ctx context.Context, place promotion.Place, found []promotion.Landing) ([]promotion.Taken, error) {
	var taken []promotion.Taken
	for _, l := range found {
		for _, component := range l.Snapshot.Components() {
			if pinned := l.Snapshot[component]; !holds(v.observed.Places[place], component, pinned) {
				taken = append(taken, promotion.Taken{Component: component, Version: pinned.Version, Commit: l.Commit})
			}
		}
	}
	resumed := v.observed.State.ResumedAt(statePlace(place))
	if resumed.IsZero() || len(taken) == 0 {
		return taken, nil
	}
	then, err := v.presentAt(ctx, place, resumed)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(taken, func(t promotion.Taken) bool {
		return v.landedBefore(t.Commit, resumed) && !holds(then, t.Component, promotion.Pinned{Version: t.Version})
	}), nil
}

func (v *view) landedBefore(id string, at time.Time) bool {
	commit, err := v.Objects.Commit(id)
	return err == nil && !commit.Committer.When.After(at)
}

// presentAt returns what the files of a place said at a time.
func (v *view) presentAt(ctx context.Context, place promotion.Place, at time.Time) (promotion.Present, error) {
	for commit, err := range v.Objects.History(v.heads[v.baseOf(place)]) {
		if err != nil {
			return promotion.Present{}, err
		}
		if commit.Committer.When.After(at) && !commit.Shallow && len(commit.Parents) > 0 {
			continue
		}
		tree, err := v.Files.At(ctx, v.observed.Config, commit.ID, []string{place.Environment})
		if err != nil {
			return promotion.Present{}, fmt.Errorf("read the files of %.7s: %w", commit.ID, err)
		}
		return tree.Places()[place], nil
	}
	return promotion.Present{}, nil
}

// checksOfLandings asks for the statuses of landed commits where a child has a
// condition on them.
func (v *view) checksOfLandings(ctx context.Context, place promotion.Place, landings []promotion.Landing) error {
	if !v.Repository.Features().Statuses || !v.asksForChecks(place) {
		return nil
	}
	for i := range landings[:min(len(landings), 3)] {
		checks, err := v.checksOf(ctx, landings[i].Commit)
		if err != nil {
			return err
		}
		landings[i].Checks = checks
	}
	return nil
}

func (v *view) asksForChecks(place promotion.Place) bool {
	return v.anyChild(place, func(parent config.Parent) bool { return len(parent.Checks) > 0 })
}

// anyChild says whether a child's condition on the place is of a kind.
func (v *view) anyChild(place promotion.Place, is func(config.Parent) bool) bool {
	return slices.ContainsFunc(v.observed.Config.Environments, func(child config.Environment) bool {
		after := v.observed.Config.Settings(child.Name, place.Application).After
		return slices.ContainsFunc(after, func(p config.Parent) bool { return p.Environment == place.Environment && is(p) })
	})
}

// rememberLanding keeps the time that a forge told of a merge.
func (v *view) rememberLanding(place promotion.Place, l promotion.Landing) {
	if v.anyChild(place, func(p config.Parent) bool { return p.Soak > 0 }) {
		v.remember(state.FirstSeen(statePlace(place), l.Snapshot.ID(), l.At))
	}
}

func comparePlaces(a, b promotion.Place) int {
	if a.Environment != b.Environment {
		return cmpText(a.Environment, b.Environment)
	}
	return cmpText(a.Application, b.Application)
}
