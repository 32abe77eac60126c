package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// learn makes landings and taken versions of what was found.
func (v *view) learn(ctx context.Context, place promotion.Place, found []promotion.Landing, standing bool) error {
	found, err := v.believed(ctx, place, found)
	if err != nil {
		return err
	}
	if standing {
		merged, err := v.mergedOf(ctx, place, found)
		if err != nil {
			return err
		}
		var untold []promotion.Landing
		found, untold = v.withMerged(place, found, merged)
		if found, err = v.withUntold(ctx, place, found, untold); err != nil {
			return err
		}
	}
	v.countLandings(place, found)
	v.observed.Taken[place], err = v.takenOf(ctx, place, found)
	if err != nil || !standing {
		return err
	}
	landings := v.contiguous(place, found)
	v.observed.Landings[place] = landings
	return v.checksOfLandings(ctx, place, landings)
}

// countLandings counts how often each snapshot landed before: a snapshot that was taken
// back and goes on once more is another promotion.
func (v *view) countLandings(place promotion.Place, found []promotion.Landing) {
	counts := map[string]int{}
	for _, l := range found {
		counts[l.Snapshot.ID()]++
	}
	v.landings[place] = counts
}

// mergedOf asks the forge when the snapshots were merged, unless it is remembered or
// nobody wants to know.
func (v *view) mergedOf(ctx context.Context, place promotion.Place, found []promotion.Landing) ([]scm.PullRequest, error) {
	settings := v.observed.Settings(place.Environment, place.Application)
	if v.observed.PushOnly || settings.Land == config.LandPush {
		return nil, nil
	}
	if i := v.standingAmong(place, found); i >= 0 {
		_, seen := v.observed.State.SeenAt(state.Place(place), found[i].Snapshot.ID())
		if seen || !v.asksForTime(place) {
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
// where the files say the same. Those of which the files say something newer by
// now come back beside.
func (v *view) withMerged(place promotion.Place, found []promotion.Landing, merged []scm.PullRequest) (all, untold []promotion.Landing) {
	for _, pr := range merged {
		for _, landed := range promotion.ReadTrailers(v.Objects.Trailers(pr.Head.Message)) {
			if landed.Place != place {
				continue
			}
			id := landed.Snapshot.ID()
			i := slices.IndexFunc(found, func(l promotion.Landing) bool { return l.Snapshot.ID() == id && l.Number == 0 })
			one := promotion.Landing{Commit: pr.Merged.Commit, Number: pr.Number, Snapshot: landed.Snapshot, At: pr.Merged.At}
			switch {
			case i >= 0:
				found[i].Number, found[i].At = pr.Number, pr.Merged.At
			case v.standingAmong(place, found) < 0 && v.stands(place, landed.Snapshot):
				found = slices.Insert(found, 0, one)
			default:
				untold = append(untold, one)
			}
		}
	}
	return found, untold
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
		if seen, known := v.observed.State.SeenAt(state.Place(place), l.Snapshot.ID()); known && (i == 0 || l.At.IsZero()) {
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

// anyChild says whether a child's condition on the place is of a kind. A condition on
// an environment in which the application is absent is one on those before it.
func (v *view) anyChild(place promotion.Place, is func(config.Parent) bool) bool {
	return slices.ContainsFunc(v.observed.Config.Environments, func(child config.Environment) bool {
		after := v.observed.Config.Settings(child.Name, place.Application).After
		return slices.ContainsFunc(after, func(p config.Parent) bool { return is(p) && v.leadsTo(p.Environment, place) })
	})
}

// leadsTo says whether a condition on an environment is one on the place.
func (v *view) leadsTo(environment string, place promotion.Place) bool {
	if environment == place.Environment {
		return true
	}
	if _, here := v.observed.Places[promotion.Place{Environment: environment, Application: place.Application}]; here {
		return false
	}
	before := v.observed.Config.Settings(environment, place.Application).After
	return slices.ContainsFunc(before, func(p config.Parent) bool { return v.leadsTo(p.Environment, place) })
}

// asksForTime says whether it matters since when something stands in a place: to a
// child in which it has to soak, or because the place was resumed meanwhile.
func (v *view) asksForTime(place promotion.Place) bool {
	return v.anyChild(place, soaks) || !v.observed.State.ResumedAt(state.Place(place)).IsZero()
}

func soaks(p config.Parent) bool { return p.Soak > 0 }

// rememberLanding keeps the time that a forge told of a merge.
func (v *view) rememberLanding(place promotion.Place, l promotion.Landing) {
	if v.anyChild(place, soaks) {
		v.remember(state.FirstSeen(state.Place(place), l.Snapshot.ID(), l.At))
	}
}
