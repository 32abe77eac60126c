package engine

import (
	"cmp"
	"context"
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/image"
)

// withRevisions returns the decisions with the commits from which their versions
// were built, where the commits between may be shown. Files and trailers do not
// tell them; the images say it of themselves. What is not told is not shown.
func (v *view) withRevisions(ctx context.Context, decisions []promotion.Decision) ([]promotion.Decision, error) {
	decisions = slices.Clone(decisions)
	var failed error
	for i, d := range decisions {
		decisions[i].Moves = slices.Clone(d.Moves)
		for j := range d.Moves {
			move := &decisions[i].Moves[j]
			if pinned, known := d.Snapshot[move.Component]; known && v.source(move.Component) != "" {
				for _, version := range []*image.Version{&move.From, &move.To} {
					var err error
					version.Revision, err = v.revision(ctx, move.Component, pinned.Repository, *version)
					failed = cmp.Or(failed, err)
				}
			}
		}
	}
	return decisions, failed
}

// revision asks for the commit of a version, unless it is known.
func (v *view) revision(ctx context.Context, component string, repository image.Repository, version image.Version) (string, error) {
	if version.Revision != "" || version.Tag == "" && version.Digest == "" {
		return version.Revision, nil
	}
	fact := promotion.Fact{Repository: repository, Tag: version.Tag, Digest: version.Digest}
	told, err := v.Registries.Resolve(ctx, promotion.Lookup{Fact: fact, Component: component, Created: true})
	return told.Revision, passing(err)
}
