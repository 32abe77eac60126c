package app

import (
	"context"
	"time"

	"promoter/internal/promotion"

	"promoter/internal/engine"
	"promoter/internal/fault"
	"promoter/internal/identity"
	"promoter/internal/image"
	"promoter/internal/registry"
	"promoter/internal/scm"
)

// Versions reads the registries. It is a subset of registry.View.
type Versions interface {
	Select(ctx context.Context, request registry.Request) (registry.Selection, error)
	Lookup(ctx context.Context, lookup promotion.Lookup) (image.Version, error)
}

// laneVersions answers with the rights of one repository. It is
// engine.Registries.
type laneVersions struct {
	versions Versions
	key      identity.RepositoryKey
	check    func(identity.RepositoryKey, image.Repository) error
	releases func(source string) (scm.Releases, string, error)
	moments  *moments // nil: answers of the round count
	now      func() time.Time
}

// Select implements engine.Registries.
func (v laneVersions) Select(ctx context.Context, ask engine.VersionRequest) promotion.Available {
	if err := v.check(v.key, ask.Repository); err != nil {
		return promotion.Available{Err: err}
	}
	request := registry.Request{
		Repository: ask.Repository, Policy: ask.Policy, Platforms: ask.Component.Select.Platforms,
		MinAge: ask.Component.Select.MinAge, FirstSeen: ask.FirstSeen,
	}
	asOf, err := v.moments.asOf(ctx, ask)
	if err != nil {
		return promotion.Available{Err: err}
	}
	request.AsOf = asOf
	selected, err := v.choose(ctx, ask, request)
	if err != nil {
		return promotion.Available{Err: err}
	}
	return selected.Available(ask.Name)
}

func (v laneVersions) choose(ctx context.Context, ask engine.VersionRequest, request registry.Request) (registry.Selection, error) {
	source, released := ask.Policy.Release()
	if !released {
		return v.versions.Select(ctx, request)
	}
	return v.released(ctx, source, request)
}

// Resolve implements engine.Registries.
func (v laneVersions) Resolve(ctx context.Context, question promotion.Lookup) (image.Version, error) {
	if err := v.check(v.key, question.Repository); err != nil {
		return image.Version{}, err
	}
	version, err := v.versions.Lookup(ctx, question)
	if fault.KindOf(err) == fault.NotFound {
		return image.Version{}, nil
	}
	return version, err
}
