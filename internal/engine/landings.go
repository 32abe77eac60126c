package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/image"
	"promoter/internal/scm"
	"promoter/internal/state"
)

// learn makes landings and taken versions of what was found.
func (v *view) learn(ctx context.Context, target promotion.Target, found []promotion.Landing, standing bool) error {
	found, err := v.believed(ctx, target, found)
	if err != nil {
		return err
	}
	if standing {
		merged, err := v.mergedOf(ctx, target, found)
		if err != nil {
			return err
		}
		var untold []promotion.Landing
		found, untold = v.withMerged(target, found, merged)
		if found, err = v.withUntold(ctx, target, found, untold); err != nil {
			return err
		}
	}
	v.countLandings(target, found)
	v.observed.Reverted[target], err = v.takenOf(ctx, target, found)
	if err != nil || !standing {
		return err
	}
	landings := v.contiguous(target, found)
	v.observed.Landings[target] = landings
	return v.checksOfLandings(ctx, target, landings)
}

// countLandings counts how often each snapshot landed before: a snapshot that was taken
// back and goes on once more is another pullrequest.
func (v *view) countLandings(target promotion.Target, found []promotion.Landing) {
	counts := map[string]int{}
	for _, l := range found {
		counts[l.Snapshot.ID()]++
	}
	v.landings[target] = counts
}

// mergedOf asks the forge when the snapshots were merged, unless it is remembered or
// nobody wants to know.
func (v *view) mergedOf(ctx context.Context, target promotion.Target, found []promotion.Landing) ([]scm.PullRequest, error) {
	settings := v.observed.Settings(target.Environment, target.Application)
	if v.observed.PushOnly || settings.Land == config.LandPush {
		return nil, nil
	}
	if i := v.standingAmong(target, found); i >= 0 {
		_, seen := v.observed.State.SeenAt(state.Target(target), found[i].Snapshot.ID())
		if seen || !v.asksForTime(target) {
			return nil, nil
		}
	}
	head := promotion.HeadBranch(target.Environment, target.Application)
	if settings.PullRequest.Group == config.GroupEnvironment {
		head = promotion.GroupBranch(target.Environment)
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
func (v *view) withMerged(target promotion.Target, found []promotion.Landing, merged []scm.PullRequest) (all, untold []promotion.Landing) {
	for _, pr := range merged {
		for _, landed := range promotion.ReadTrailers(v.Objects.Trailers(pr.Head.Message)) {
			if landed.Target != target {
				continue
			}
			id := landed.Snapshot.ID()
			i := slices.IndexFunc(found, func(l promotion.Landing) bool { return l.Snapshot.ID() == id && l.Number == 0 })
			one := promotion.Landing{Commit: pr.Merged.Commit, Number: pr.Number, Snapshot: landed.Snapshot, At: pr.Merged.At}
			switch {
			case i >= 0:
				found[i].Number, found[i].At = pr.Number, pr.Merged.At
			case v.standingAmong(target, found) < 0 && v.stands(target, landed.Snapshot):
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
func (v *view) contiguous(target promotion.Target, found []promotion.Landing) []promotion.Landing {
	var landings []promotion.Landing
	for _, l := range found {
		if n := len(landings); n > 0 && landings[n-1].Snapshot.ID() == l.Snapshot.ID() {
			landings[n-1] = l // the oldest contiguous commit that holds it
			continue
		}
		landings = append(landings, l)
	}
	at := v.standingAmong(target, landings)
	for i := range landings[:max(at, 0)] {
		landings[i].TakenBack = true
	}
	switch {
	case at > 0:
		again := landings[at]
		again.Commit, again.At = v.heads[v.baseOf(target)], time.Time{}
		landings = slices.Insert(landings, 0, again)
	case at < 0:
		landings = slices.Insert(landings, 0, promotion.Landing{Commit: v.heads[v.baseOf(target)], Snapshot: v.writtenIn(target)})
	}
	v.times(target, landings)
	return landings
}

// times fills in since when and until when each stood there, as far as anything
// proves it.
func (v *view) times(target promotion.Target, landings []promotion.Landing) {
	for i := range landings {
		l := &landings[i]
		if seen, known := v.observed.State.SeenAt(state.Target(target), l.Snapshot.ID()); known && (i == 0 || l.At.IsZero()) {
			l.At = seen
		} else if i == 0 && !l.At.IsZero() {
			v.rememberLanding(target, *l)
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
func (v *view) writtenIn(target promotion.Target) promotion.Snapshot {
	snapshot := promotion.Snapshot{}
	for _, r := range v.observed.Targets[target].References {
		pinned := promotion.Pinned{Repository: r.Repository, Version: image.Version{Tag: r.Tag, Digest: r.Digest}}
		if known := snapshot[r.Component]; known.Version.Digest == "" {
			snapshot[r.Component] = pinned
		}
	}
	return snapshot
}

// checksOfLandings asks for the statuses of landed commits where a child has a
// condition on them.
func (v *view) checksOfLandings(ctx context.Context, target promotion.Target, landings []promotion.Landing) error {
	if !v.Repository.Features().Statuses || !v.asksForChecks(target) {
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

func (v *view) asksForChecks(target promotion.Target) bool {
	return v.anyChild(target, func(parent config.Parent) bool { return len(parent.Checks) > 0 })
}

// anyChild says whether a child's condition on the place is of a kind. A condition on
// an environment in which the application is absent is one on those before it.
func (v *view) anyChild(target promotion.Target, is func(config.Parent) bool) bool {
	return slices.ContainsFunc(v.observed.Config.Environments, func(child config.Environment) bool {
		after := v.observed.Config.Settings(child.Name, target.Application).After
		return slices.ContainsFunc(after, func(p config.Parent) bool { return is(p) && v.leadsTo(p.Environment, target) })
	})
}

// leadsTo says whether a condition on an environment is one on the place.
func (v *view) leadsTo(environment string, target promotion.Target) bool {
	if environment == target.Environment {
		return true
	}
	if _, here := v.observed.Targets[promotion.Target{Environment: environment, Application: target.Application}]; here {
		return false
	}
	before := v.observed.Config.Settings(environment, target.Application).After
	return slices.ContainsFunc(before, func(p config.Parent) bool { return v.leadsTo(p.Environment, target) })
}

// asksForTime says whether it matters since when something stands in a place: to a
// child in which it has to soak, or because the place was resumed meanwhile.
func (v *view) asksForTime(target promotion.Target) bool {
	return v.anyChild(target, soaks) || !v.observed.State.ResumedAt(state.Target(target)).IsZero()
}

func soaks(p config.Parent) bool { return p.Soak > 0 }

// rememberLanding keeps the time that a forge told of a merge.
func (v *view) rememberLanding(target promotion.Target, l promotion.Landing) {
	if v.anyChild(target, soaks) {
		v.remember(state.FirstSeen(state.Target(target), l.Snapshot.ID(), l.At))
	}
}
