package registry

import (
	"context"

	"promoter/internal/image"
	"promoter/internal/promotion"
)

// Available returns the selection of a component as promotion plans with it.
// Versions that may not be used yet become pending conditions.
func (s Selection) Available(component string) promotion.Available {
	available := promotion.Available{Version: s.Version, Found: s.Found, Reason: s.Reason, NotSelected: s.NotSelected}
	for _, version := range s.Ineligible {
		condition := promotion.Condition{Name: component + " " + version.Tag, State: promotion.Pending, Reason: version.Reason}
		if !version.Until.IsZero() {
			until := version.Until.UTC()
			condition.Until = &until
		}
		available.Held = append(available.Held, promotion.HeldVersion{
			Version: image.Version{Tag: version.Tag, Digest: version.Digest}, Condition: condition,
		})
	}
	return available
}

// Lookup returns the fact that promotion asks for: the digest of a tag, and its
// date if that is needed.
func (v *View) Lookup(ctx context.Context, lookup promotion.Lookup) (image.Version, error) {
	version, err := v.Resolve(ctx, image.Reference{
		Repository: lookup.Repository,
		Name:       lookup.Repository.String(),
		Tag:        lookup.Tag,
		Digest:     lookup.Digest,
	})
	if err != nil || !lookup.Created {
		return version, err
	}
	described, err := v.Describe(ctx, lookup.Repository, version.Digest)
	if err != nil {
		return version, err
	}
	described.Tag, described.Digest = version.Tag, version.Digest
	return described, nil
}
