package engine

import (
	"context"
	"fmt"
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/scm"
	"promoter/internal/state"
)

// aboutPull is what a pull request of ours is about, whatever became of it.
type aboutPull struct {
	number int
	place  promotion.Target   // by its branch
	places []promotion.Target // of the config, one for each application
	landed []promotion.Landed
	merged string // the commit that it became; empty: it was not merged
}

// closedBranches is how many branches are looked through for a pull request that is
// not open any more, and closedOfEach how many pull requests of each.
const (
	closedBranches = 200
	closedOfEach   = 5
)

// aboutPull finds a pull request by its number. It is false for one that is not
// ours: from a fork, of another branch, or opened by somebody else.
func (v *view) aboutPull(ctx context.Context, number int) (aboutPull, bool, error) {
	open := slices.IndexFunc(v.open, func(pr scm.PullRequest) bool { return pr.Number == number })
	if open >= 0 {
		return v.aboutOpen(v.open[open])
	}
	for _, head := range v.closedHeads(number) {
		closed, err := v.closedOf(ctx, head)
		if err != nil {
			return aboutPull{}, false, err
		}
		i := slices.IndexFunc(closed, func(pr scm.PullRequest) bool { return pr.Number == number })
		if i >= 0 {
			about, ours := v.about(closed[i], v.Objects.Trailers(closed[i].Head.Message))
			return about, ours, nil
		}
	}
	return aboutPull{}, false, nil
}

// closedOf lists the closed pull requests of a branch, once in a pass.
func (v *view) closedOf(ctx context.Context, head string) ([]scm.PullRequest, error) {
	if known, asked := v.memory.closed[head]; asked {
		return known, nil
	}
	closed, err := v.Repository.PullRequests().Closed(ctx, head, closedOfEach)
	if err != nil {
		return nil, fmt.Errorf("list the closed pull requests of %s: %w", head, err)
	}
	if v.memory.closed == nil {
		v.memory.closed = map[string][]scm.PullRequest{}
	}
	v.memory.closed[head] = closed
	return closed, nil
}

func (v *view) aboutOpen(pr scm.PullRequest) (aboutPull, bool, error) {
	var trailers []promotion.Trailer
	if _, ours := promotion.ParseHead(pr.Head.Branch); ours && pr.Head.Own {
		head, err := v.Objects.Commit(pr.Head.Commit)
		if err != nil {
			return aboutPull{}, false, fmt.Errorf("read the head of #%d: %w", pr.Number, err)
		}
		if v.isOurs(head) {
			trailers = head.Trailers
		}
	}
	about, ours := v.about(pr, trailers)
	return about, ours, nil
}

// about reads what a pull request is about from its branch and the trailers of its
// head, which say nothing about other places.
func (v *view) about(pr scm.PullRequest, trailers []promotion.Trailer) (aboutPull, bool) {
	target, named := promotion.ParseHead(pr.Head.Branch)
	if !named || !pr.Head.Own || !pr.Author.Same(v.Repository.Info().Self) {
		return aboutPull{}, false
	}
	about := aboutPull{number: pr.Number, place: target, merged: pr.Merged.Commit}
	for _, landed := range promotion.ReadTrailers(trailers) {
		if speaksFor(target, landed.Target) {
			about.landed = append(about.landed, landed)
		}
	}
	if _, known := v.observed.Config.Environment(target.Environment); !known {
		return about, true
	}
	if target.Application != state.All {
		about.places = []promotion.Target{target}
		return about, true
	}
	for _, landed := range about.landed {
		about.places = append(about.places, landed.Target)
	}
	return about, true
}

// closedHeads returns the branches that a pull request may have come from: that of
// which the state tells first, then those of every place.
func (v *view) closedHeads(number int) []string {
	var known, heads []string
	for _, target := range v.observed.State.Targets() {
		record := v.observed.State.At(target)
		head := promotion.HeadBranch(target.Environment, target.Application)
		closed := func(c state.Closing) bool { return c.Number == number }
		rejected := func(r state.Rejection) bool { return r.Number == number }
		if slices.ContainsFunc(record.Closings, closed) || slices.ContainsFunc(record.Rejections, rejected) {
			known = append(known, head)
		}
	}
	for target := range v.observed.Targets {
		heads = append(heads, promotion.HeadBranch(target.Environment, target.Application), promotion.GroupBranch(target.Environment))
	}
	slices.Sort(heads)
	heads = slices.Concat(known, slices.Compact(heads))
	return heads[:min(len(heads), closedBranches)]
}

// rejections are the changes that keep the versions of a pull request out of every
// environment, or why there are none.
func (v *view) rejections(ctx context.Context, about aboutPull, act state.Act) (changes []state.Change, why string, err error) {
	everywhere := state.Target{Environment: state.All, Application: state.All}
	for _, landed := range about.landed {
		images, err := v.broughtBy(ctx, about, landed)
		if err != nil {
			return nil, "", err
		}
		if len(images) > 0 {
			changes = append(changes, state.Reject(everywhere, state.Rejection{Act: act, Images: images, Number: about.number}))
		}
	}
	switch {
	case len(about.landed) == 0:
		return nil, "its head is none of promoter's, so it is not known which versions it brings: name them with promoter reject", nil
	case len(changes) == 0:
		return nil, "it brings no versions that are not there already", nil
	}
	return changes, "", nil
}

// broughtBy returns the versions that a pull request brings, or brought, to a place:
// the others were not what the person refused.
func (v *view) broughtBy(ctx context.Context, about aboutPull, landed promotion.Landed) (map[string]string, error) {
	if about.merged == "" {
		return v.wouldChange(landed), nil
	}
	var before promotion.Current
	if commit, err := v.Objects.Commit(about.merged); err == nil && len(commit.Parents) > 0 && !commit.Shallow {
		if before, err = v.presentIn(ctx, landed.Target, commit.Parents[0]); err != nil {
			return nil, err
		}
	}
	images := map[string]string{}
	for component, pinned := range landed.Snapshot {
		if len(before.References) == 0 || !holds(before, component, pinned) {
			images[component] = pinned.String()
		}
	}
	return images, nil
}
