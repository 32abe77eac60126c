package landing

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// This file finds the earlier states of a target, for a rollback: what its files had, whatever
// promoter or users wrote them.

// Earlier is what the files of a target had in a commit of its branch, whatever is the name
// of the user who wrote it.
type Earlier struct {
	Commit   string
	Snapshot promotion.Snapshot // with digests that the files do not have, as far as they are recorded
	Left     []string           // what the files have instead, repository:tag@digest: what a rollback leaves
}

// maxEarlier is how many earlier states of a target are read.
const maxEarlier = 200

// Before returns the state to which a rollback returns: that of a commit or a snapshot if one
// is named, by at least seven digits of its ID. Otherwise it is the last one before the current
// versions first came. What came after that is no candidate, because a user rolled it back or
// reverted it. Neither is a version that was rolled back or reverted earlier, and what users
// rejected or what failed.
func (r Reader) Before(ctx context.Context, o Observed, target promotion.Target, named string) (Earlier, error) {
	t := r.in(o, target)
	landings, err := t.landings(ctx)
	if err != nil {
		return Earlier{}, fmt.Errorf("read the history of %s: %w", o.Promotion.BaseOf(target), err)
	}
	earlier, err := t.before(ctx, named, landings)
	if err != nil {
		return Earlier{}, err
	}
	digestOf := func(component string, pinned promotion.Pinned) string { return t.digestOf(component, pinned, landings) }
	earlier.Left = promotion.LeftBy(o.Promotion.Targets[target], earlier.Snapshot, digestOf)
	return earlier, nil
}

// before returns the state to which a rollback returns, see Reader.Before.
func (t targetReader) before(ctx context.Context, named string, landings []promotion.Landing) (Earlier, error) {
	if named != "" && !strings.HasPrefix(named, snapshotPrefix) {
		commit, err := t.commitNamed(named)
		if err != nil {
			return Earlier{}, err
		}
		if commit != "" {
			return t.stateAt(ctx, commit, landings)
		}
	}
	states, err := t.states(ctx, landings)
	if err != nil {
		return Earlier{}, err
	}
	if named != "" {
		return t.byID(named, states)
	}
	return t.lastGood(states)
}

// landings returns the proven landings in the target, newest first.
func (t targetReader) landings(ctx context.Context) ([]promotion.Landing, error) {
	needs := map[string]*historyNeed{}
	addNeed(t.o, needs, t.target, maxHistory, true)
	branch := t.o.Promotion.BaseOf(t.target)
	if needs[branch] == nil {
		return nil, nil
	}
	landed, err := t.from.branch(branch, t.head()).readLandings(ctx, t.from.prover(t.o), needs[branch])
	if err != nil {
		return nil, err
	}
	history, err := t.read(ctx, landed[t.target], needs[branch].targets[t.target])
	return history.landings, err
}

// lastGood returns the last of the states, newest first, before the current versions first came.
func (t targetReader) lastGood(states []Earlier) (Earlier, error) {
	current := t.o.Promotion.Targets[t.target]
	first := 0 // after the state that first brought the current versions
	snapshots := []promotion.Snapshot{written(current)}
	for i, e := range states {
		if containsSnapshot(current, e.Snapshot) {
			first = i + 1
		}
		snapshots = append(snapshots, e.Snapshot)
	}
	for _, e := range states[first:] {
		_, failed := t.o.Promotion.State.FailureOf(state.Target(t.target), e.Snapshot.ID())
		unwanted := failed || t.o.rejects(t.target, e.Snapshot) || t.o.leftUpstream(t.target, e.Snapshot)
		if !unwanted && !hasRevertedVersion(snapshots, e.Snapshot) {
			return e, nil
		}
	}
	const none = "the history of %s has no earlier versions of %s that were not rolled back, reverted, or rejected, and did not fail: "
	const advice = "name a commit with --to, or request versions with 'promoter promote --to %s%s --with REPOSITORY:TAG'"
	return Earlier{}, fault.New(fault.NotFound, none+advice,
		t.o.Promotion.BaseOf(t.target), t.target.Name(), t.target.Environment, t.target.ApplicationFlag())
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
			older := 1 // after the oldest state with this version: what is between was reverted
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

const snapshotPrefix = "v1:"

var partOfID = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// commitNamed returns the commit of the target's branch with the first digits of its ID;
// empty if there is none.
func (t targetReader) commitNamed(digits string) (string, error) {
	if !partOfID.MatchString(digits) {
		return "", fault.New(fault.Invalid, "%.80q is neither a commit nor a snapshot: write at least 7 digits of its ID", digits)
	}
	found := ""
	for commit, err := range repo.FirstParents(t.from.Objects, t.head(), maxCommits) {
		if err != nil {
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
func (t targetReader) stateAt(ctx context.Context, commit string, landings []promotion.Landing) (Earlier, error) {
	files, err := t.from.Past.At(ctx, t.target, commit)
	if err != nil {
		return Earlier{}, err
	}
	snapshot, why := t.snapshotOf(files, landings)
	switch {
	case why != "":
		return Earlier{}, fault.New(fault.Invalid, "commit %.7s: %s", commit, why)
	case len(snapshot) == 0:
		return Earlier{}, fault.New(fault.NotFound, "commit %.7s has no reference to a component that %s has now", commit, t.target.Name())
	case containsSnapshot(t.o.Promotion.Targets[t.target], snapshot):
		return Earlier{}, fault.New(fault.Invalid, "%s has the versions of commit %.7s already: %s", t.target.Name(), commit, snapshot)
	}
	return Earlier{Commit: commit, Snapshot: snapshot}, nil
}

// byID returns the newest state whose snapshot has an ID that begins with the digits.
func (t targetReader) byID(named string, states []Earlier) (Earlier, error) {
	digits := strings.TrimPrefix(named, snapshotPrefix)
	matches := func(e Earlier) bool {
		return partOfID.MatchString(digits) && strings.HasPrefix(strings.TrimPrefix(e.Snapshot.ID(), snapshotPrefix), digits)
	}
	i := slices.IndexFunc(states, matches)
	if i < 0 {
		return Earlier{}, fault.New(fault.NotFound, "%.80q is neither a commit on %s nor a snapshot that %s had",
			named, t.o.Promotion.BaseOf(t.target), t.target.Name())
	}
	if containsSnapshot(t.o.Promotion.Targets[t.target], states[i].Snapshot) {
		return Earlier{}, fault.New(fault.Invalid, "%s has the versions of %s already: %s", t.target.Name(), named, states[i].Snapshot)
	}
	return states[i], nil
}

// states returns the earlier states of the target, newest first: each that a later commit
// changed. What cannot be read, or has several versions of a component, is no state to return
// to.
func (t targetReader) states(ctx context.Context, landings []promotion.Landing) ([]Earlier, error) {
	var states []Earlier
	touches := t.o.touches(t.target)
	count := 0
	for commit, err := range repo.FirstParents(t.from.Objects, t.head(), maxCommits) {
		if err != nil {
			return nil, err
		}
		if count == maxEarlier || commit.Shallow || len(commit.Parents) == 0 {
			break
		}
		before := commit.Parents[0]
		changed, err := t.from.Objects.Changed(before, commit.ID)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(changed, touches) {
			continue
		}
		count++
		files, read, err := t.from.Past.Try(ctx, t.target, before)
		if err != nil {
			return nil, err
		}
		if snapshot, why := t.snapshotOf(files, landings); read && why == "" && len(snapshot) > 0 {
			states = append(states, Earlier{Commit: before, Snapshot: snapshot})
		}
	}
	return states, nil
}

// snapshotOf returns the versions in earlier files of the target, of the components that it has
// now. It also returns why there is no snapshot.
func (t targetReader) snapshotOf(files promotion.Current, landings []promotion.Landing) (promotion.Snapshot, string) {
	snapshot := promotion.Snapshot{}
	for _, r := range files.References {
		now := func(c edit.Reference) bool { return c.Component == r.Component && c.Repository == r.Repository }
		if r.Tag == "" && r.Digest == "" || !slices.ContainsFunc(t.o.Promotion.Targets[t.target].References, now) {
			continue
		}
		other, several := snapshot[r.Component]
		if several && !promotion.SameRollout(other.Version, r.Version()) {
			there, here := t.resolved(r.Component, other, landings), t.resolved(r.Component, pinnedAt(r), landings)
			if !promotion.SameRollout(there, here) {
				return nil, "the files have several versions of " + r.Component
			}
			there.Tag = cmp.Or(there.Tag, here.Tag)
			snapshot[r.Component] = promotion.Pinned{Repository: other.Repository, Version: there}
			continue
		}
		if !several || other.Version.Digest == "" {
			snapshot[r.Component] = pinnedAt(r)
		}
	}
	for component, pinned := range snapshot {
		if pinned.Version.Digest == "" {
			pinned.Version.Digest = t.digestOf(component, pinned, landings)
			snapshot[component] = pinned
		}
	}
	return snapshot, ""
}

// resolved returns a version with the digest of its tag, if that is known.
func (t targetReader) resolved(component string, pinned promotion.Pinned, landings []promotion.Landing) image.Version {
	if pinned.Version.Digest == "" {
		pinned.Version.Digest = t.digestOf(component, pinned, landings)
	}
	return pinned.Version
}

// digestOf returns the digest with which a tag landed, or that promoter observed; empty: unknown.
func (t targetReader) digestOf(component string, pinned promotion.Pinned, landings []promotion.Landing) string {
	for _, landing := range landings {
		landed := landing.Snapshot[component]
		sameTag := landed.Repository == pinned.Repository && landed.Version.Tag == pinned.Version.Tag
		if sameTag && landed.Version.Digest != "" {
			return landed.Version.Digest
		}
	}
	digest, _ := t.o.Promotion.State.ObservedDigest(state.Target(t.target), pinned.Repository.String(), pinned.Version.Tag)
	return digest
}

// restored returns what the commit of a rollback proves: the versions that its files had, if
// it is on the branch of the target.
func (t targetReader) restored(ctx context.Context) (promotion.Snapshot, error) {
	back := t.o.Promotion.State.At(state.Target(t.target)).Rollback
	if back == nil || back.Commit == "" {
		return nil, nil
	}
	on, err := t.from.OnBranch(ctx, t.o.Promotion.BaseOf(t.target), t.head(), back.Commit)
	if err != nil || !on {
		return nil, err
	}
	files, err := t.from.Past.At(ctx, t.target, back.Commit)
	if err != nil {
		return nil, err
	}
	snapshot, _ := t.snapshotOf(files, nil)
	return snapshot, nil
}
