package landing

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/budget"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// Earlier is what the files of a target had in a commit of its branch, whatever is the name
// of the user who wrote it.
type Earlier struct {
	Commit   string
	Snapshot promotion.Snapshot // with digests that the files do not have, as far as they are recorded
}

// maxEarlier is how many earlier states of a target are read.
const maxEarlier = 200

// Before returns the state to which a rollback returns: that of a commit or a snapshot if one
// is named, by at least seven digits of its ID. Otherwise it is the last one before the current
// versions first came. What came after that is no candidate, because a user rolled it back or
// reverted it. Neither is a version that was rolled back or reverted earlier, and what users
// rejected or what failed.
func (h Reader) Before(ctx context.Context, o Observed, target promotion.Target, named string) (Earlier, error) {
	landings, err := h.landingsOf(ctx, o, target)
	if err != nil {
		return Earlier{}, fmt.Errorf("read the history of %s: %w", o.Promotion.BaseOf(target), err)
	}
	if named != "" && !strings.HasPrefix(named, snapshotPrefix) {
		if !partOfID.MatchString(named) {
			return Earlier{}, fault.New(fault.Invalid, "%.80q is neither a commit nor a snapshot: write at least 7 digits of its ID", named)
		}
		commit, err := commitNamed(h.Objects, o, target, named)
		if err != nil {
			return Earlier{}, err
		}
		if commit != "" {
			return stateAt(ctx, h.Past, o, target, commit, landings)
		}
	}
	current := o.Promotion.Targets[target]
	var found []Earlier
	walk := func(e Earlier) { found = append(found, e) }
	if err := h.walkStates(ctx, o, target, landings, walk); err != nil {
		return Earlier{}, err
	}
	if named != "" {
		return byID(o, target, named, found)
	}
	first := 0 // after the state that first brought the current versions
	for i, e := range found {
		if containsSnapshot(current, e.Snapshot) {
			first = i + 1
		}
	}
	snapshots := []promotion.Snapshot{written(current)}
	for _, e := range found {
		snapshots = append(snapshots, e.Snapshot)
	}
	for _, e := range found[first:] {
		_, failed := o.Promotion.State.FailureOf(state.Target(target), e.Snapshot.ID())
		if !failed && !o.rejects(target, e.Snapshot) && !hasRevertedVersion(snapshots, e.Snapshot) {
			return e, nil
		}
	}
	return Earlier{}, fault.New(fault.NotFound, "the history of %s has no earlier versions of %s that were not rolled back, reverted, or rejected, and did not fail: "+
		"name a commit with --to, or request versions with 'promoter promote --to %s%s --with REPOSITORY:TAG'",
		o.Promotion.BaseOf(target), target.Name(), target.Environment, target.ApplicationFlag())
}

// hasRevertedVersion reports whether a snapshot has a version of a component that came only
// between two states, newest first, that have the same other version.
func hasRevertedVersion(states []promotion.Snapshot, snapshot promotion.Snapshot) bool {
	return slices.ContainsFunc(snapshot.Components(), func(component string) bool {
		var versions []image.Version
		for _, s := range states {
			if pinned, found := s[component]; found {
				versions = append(versions, pinned.Version)
			}
		}
		for len(versions) > 0 {
			if promotion.SameRollout(versions[0], snapshot[component].Version) {
				return false
			}
			older := 1
			for i, v := range versions {
				if promotion.SameRollout(v, versions[0]) {
					older = i + 1
				}
			}
			versions = versions[older:]
		}
		return true
	})
}

// landingsOf returns the proven landings in a target, newest first.
func (h Reader) landingsOf(ctx context.Context, o Observed, target promotion.Target) ([]promotion.Landing, error) {
	needs := map[string]*historyNeed{}
	addNeed(o, needs, target, maxHistory, true)
	for branch, need := range needs {
		landed, err := h.readLandings(ctx, o, branch, need)
		if err != nil {
			return nil, err
		}
		history, err := h.readTarget(ctx, o, target, landed[target], true)
		return history.landings, err
	}
	return nil, nil
}

const snapshotPrefix = "v1:"

var partOfID = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// commitNamed returns the commit of the branch of a target with the first digits of its ID;
// empty if there is none.
func commitNamed(objects repo.Objects, o Observed, target promotion.Target, digits string) (string, error) {
	found := ""
	n := 0
	for commit, err := range objects.History(o.Heads[o.Promotion.BaseOf(target)]) {
		if n++; err != nil || n > maxCommits {
			return found, err
		}
		if !strings.HasPrefix(commit.ID, digits) {
			continue
		}
		if found != "" {
			return "", fault.New(fault.Invalid, "%s is ambiguous: %.12s and %.12s begin with it", digits, found, commit.ID)
		}
		found = commit.ID
	}
	return found, nil
}

// stateAt returns the state in a named commit.
func stateAt(ctx context.Context, past *PastFiles, o Observed, target promotion.Target, commit string, landings []promotion.Landing) (Earlier, error) {
	files, err := past.At(ctx, target, commit)
	if err != nil {
		return Earlier{}, err
	}
	snapshot, why := o.snapshotOf(target, files, landings)
	switch {
	case why != "":
		return Earlier{}, fault.New(fault.Invalid, "commit %.7s: %s", commit, why)
	case len(snapshot) == 0:
		return Earlier{}, fault.New(fault.NotFound, "commit %.7s has no reference to a component that %s has now", commit, target.Name())
	case containsSnapshot(o.Promotion.Targets[target], snapshot):
		return Earlier{}, fault.New(fault.Invalid, "%s has the versions of commit %.7s already: %s", target.Name(), commit, snapshot)
	}
	return Earlier{commit, snapshot}, nil
}

// byID returns the newest state whose snapshot has an ID that begins with the digits.
func byID(o Observed, target promotion.Target, named string, found []Earlier) (Earlier, error) {
	digits := strings.TrimPrefix(named, snapshotPrefix)
	matches := func(e Earlier) bool {
		return partOfID.MatchString(digits) && strings.HasPrefix(strings.TrimPrefix(e.Snapshot.ID(), snapshotPrefix), digits)
	}
	i := slices.IndexFunc(found, matches)
	if i < 0 {
		return Earlier{}, fault.New(fault.NotFound, "%.80q is neither a commit on %s nor a snapshot that %s had",
			named, o.Promotion.BaseOf(target), target.Name())
	}
	if containsSnapshot(o.Promotion.Targets[target], found[i].Snapshot) {
		return Earlier{}, fault.New(fault.Invalid, "%s has the versions of %s already: %s", target.Name(), named, found[i].Snapshot)
	}
	return found[i], nil
}

// touches returns whether a path may have versions of a target.
func (o Observed) touches(target promotion.Target) func(path string) bool {
	environment, _ := o.Promotion.Config.Environment(target.Environment)
	own := o.Promotion.Deployment(target).Files
	return func(path string) bool {
		_, within := environment.Match(path)
		return within || slices.Contains(own, path)
	}
}

// walkStates visits the earlier states of a target, newest first. What cannot be read, or
// has several versions of a component, is no state to return to.
func (h Reader) walkStates(ctx context.Context, o Observed, target promotion.Target, landings []promotion.Landing, visit func(Earlier)) error {
	touches := o.touches(target)
	commits, read := 0, 0
	for commit, err := range h.Objects.History(o.Heads[o.Promotion.BaseOf(target)]) {
		if err != nil {
			return err
		}
		if commits++; commits > maxCommits || read == maxEarlier || commit.Shallow || len(commit.Parents) == 0 {
			return nil
		}
		before := commit.Parents[0]
		changed, err := h.Objects.Changed(before, commit.ID)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(changed, touches) {
			continue
		}
		read++
		files, err := h.Past.At(ctx, target, before)
		switch {
		case errors.Is(err, budget.ErrExceeded):
			return nil
		case fault.KindOf(err) == fault.Invalid:
			continue
		case err != nil:
			return err
		}
		if snapshot, why := o.snapshotOf(target, files, landings); why == "" && len(snapshot) > 0 {
			visit(Earlier{before, snapshot})
		}
	}
	return nil
}

// snapshotOf returns the versions in earlier files of a target, of the components that it has
// now. A digest that the files do not have is the one with which the tag landed, or that
// promoter observed. It also returns why there is no snapshot.
func (o Observed) snapshotOf(target promotion.Target, files promotion.Current, landings []promotion.Landing) (promotion.Snapshot, string) {
	snapshot := promotion.Snapshot{}
	for _, r := range files.References {
		now := func(c edit.Reference) bool { return c.Component == r.Component && c.Repository == r.Repository }
		if r.Tag == "" && r.Digest == "" || !slices.ContainsFunc(o.Promotion.Targets[target].References, now) {
			continue
		}
		version := image.Version{Tag: r.Tag, Digest: r.Digest}
		other, several := snapshot[r.Component]
		if several && !promotion.SameRollout(other.Version, version) {
			return nil, "the files have several versions of " + r.Component
		}
		if !several || other.Version.Digest == "" {
			snapshot[r.Component] = promotion.Pinned{Repository: r.Repository, Version: version}
		}
	}
	for component, pinned := range snapshot {
		if pinned.Version.Digest != "" {
			continue
		}
		for _, landing := range landings {
			if landed := landing.Snapshot[component]; landed.Repository == pinned.Repository && landed.Version.Tag == pinned.Version.Tag && pinned.Version.Digest == "" {
				pinned.Version.Digest = landed.Version.Digest
			}
		}
		if pinned.Version.Digest == "" {
			pinned.Version.Digest, _ = o.Promotion.State.ObservedDigest(state.Target(target), pinned.Repository.String(), pinned.Version.Tag)
		}
		snapshot[component] = pinned
	}
	return snapshot, ""
}

// restored returns what the commit of a rollback proves: the versions that its files had, if
// it is on the branch of the target.
func (h Reader) restored(ctx context.Context, o Observed, target promotion.Target) (promotion.Snapshot, error) {
	back := o.Promotion.State.At(state.Target(target)).Rollback
	if back == nil || back.Commit == "" {
		return nil, nil
	}
	branch := o.Promotion.BaseOf(target)
	on, err := h.OnBranch(ctx, branch, o.Heads[branch], back.Commit)
	if err != nil || !on {
		return nil, err
	}
	files, err := h.Past.At(ctx, target, back.Commit)
	if err != nil {
		return nil, err
	}
	snapshot, _ := o.snapshotOf(target, files, nil)
	return snapshot, nil
}
