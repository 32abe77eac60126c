package decide

import (
	"context"
	"slices"

	"promoter/internal/edit"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/promotion/condition"
	"promoter/internal/promotion/input"
)

// MirrorLookups returns what Plan needs to know from mirrors, given the answers to Lookups. They
// are sorted and unique.
func MirrorLookups(ctx context.Context, observation promotion.Observation) ([]promotion.Lookup, error) {
	of, err := MirrorLookupsOf(ctx, observation)
	return Merged(of), err
}

// MirrorLookupsOf returns the lookups of each application.
func MirrorLookupsOf(ctx context.Context, observation promotion.Observation) (map[string][]promotion.Lookup, error) {
	mirrored := false // in nearly all repositories nothing is
	for _, current := range observation.Selected() {
		mirrored = mirrored || namesMirror(current)
	}
	if !mirrored {
		return map[string][]promotion.Lookup{}, nil
	}
	return lookupsOf(ctx, observation, func(in input.Target, found lookups) {
		if !namesMirror(in.Current) {
			return
		}
		for i := range in.Refs {
			found.addMirrors(in, i)
		}
	})
}

// namesMirror reports whether a file names a repository by a mirror.
func namesMirror(current promotion.Current) bool {
	return slices.ContainsFunc(current.References, func(r edit.Reference) bool { return !r.Mirror.IsZero() })
}

// addMirrors looks up the versions that a component of a target may move to in its mirrors,
// and the digests that these versions must have there.
func (l lookups) addMirrors(in input.Target, i int) {
	ref := in.Refs[i]
	for _, m := range condition.MirrorsOf(in, ref.Component) {
		for _, to := range writable(in, i) {
			facts := m.Facts(to)
			if to.Digest == "" && to.Tag != "" {
				facts = append(facts, promotion.Fact{Repository: ref.Repository, Tag: to.Tag})
			}
			for _, fact := range facts {
				if _, known := in.Registry().Facts[fact]; !known {
					l.all[fact] = promotion.Lookup{Fact: fact, Component: ref.Component}
				}
			}
		}
	}
}

// writable returns the versions that may be written for a component of a target.
func writable(in input.Target, i int) []image.Version {
	ref := in.Refs[i]
	moving := in.Moving(ref.Component)
	var versions []image.Version
	if back := in.Record().Rollback; back != nil {
		if to, valid := rollbackVersion(in, ref, back.Images[ref.Component]); valid && ref.Differs(to, moving) {
			versions = append(versions, to)
		}
	}
	var candidates []image.Version
	if requested := in.Registry().Explicit[ref.Component]; requested.Found {
		candidates = append(candidates, requested.Version)
	}
	if open := in.OpenPullRequest(); open != nil {
		if pinned, known := open.Snapshots[in.Target.Application][ref.Component]; known && pinned.Repository == ref.Repository {
			candidates = append(candidates, pinned.Version)
		}
	}
	if available := in.Registry().Available[ref.Component]; available.Found && (len(in.Settings.After) == 0 || input.ExplicitlyHere(in)) {
		candidates = append(candidates, available.Version)
	}
	if len(in.Settings.After) > 0 {
		candidates = append(candidates, sourceVersions(in, i)...)
	}
	if current, agreed := ref.Agreed(); agreed {
		candidates = append(candidates, current) // its form may change
	}
	for _, v := range candidates {
		if move, moves := input.MoveTo(in, ref, v); moves {
			versions = append(versions, move.To)
		}
	}
	return versions
}
