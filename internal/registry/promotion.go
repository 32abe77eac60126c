package registry

import (
	"context"
	"time"

	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/signature"
)

// Available returns the selection of a component as promotion plans with it.
// Versions that may not be used yet become pending conditions.
func (s Selection) Available(component string) promotion.Available {
	available := promotion.Available{
		Version: s.Version, Found: s.Found, Reason: s.Reason, NotSelected: s.NotSelected, Spellings: s.Spellings, Note: s.Note,
	}
	for _, version := range s.Ineligible {
		condition := promotion.Condition{Name: component + " " + version.Tag, State: promotion.Pending, Reason: version.Reason}
		if version.WronglySigned {
			condition.State = promotion.Blocked
		}
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
	if err != nil {
		return version, err
	}
	if version.Signature, err = v.verify(ctx, lookup, version.Digest); err != nil || !lookup.Created {
		return version, err
	}
	described, err := v.Describe(ctx, lookup.Repository, version.Digest)
	if err != nil {
		return version, err
	}
	described.Tag = version.Tag
	described.Digest = version.Digest
	described.Signature = version.Signature
	return described, nil
}

// verify decides who signed the version of a lookup.
func (v *View) verify(ctx context.Context, lookup promotion.Lookup, digest string) (image.Signature, error) {
	policy, err := signature.New(lookup.Verify)
	if err != nil || policy.ID() == "" {
		return image.Signature{}, err
	}
	a, err := v.access(lookup.Repository)
	if err != nil {
		return image.Signature{}, err
	}
	return v.signature(ctx, a, digest, policy, time.Time{})
}
