package app

import (
	"context"
	"slices"
	"sync"

	"promoter/internal/promotion"

	"promoter/internal/engine"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/registry"
)

// Versions is what app needs of the registries, with the rights of one
// repository. It is a part of registry.View.
type Versions interface {
	Select(ctx context.Context, request registry.Request) (registry.Selection, error)
	Resolve(ctx context.Context, reference image.Reference) (image.Version, error)
	Describe(ctx context.Context, repository image.Repository, digest string) (image.Version, error)
}

// takesOffers says which places take their versions from offers: the shown ones
// that follow no other, and any where a person named the versions. Nothing else
// is worth a question.
func (c *Checkout) takesOffers(shown []string, options Options) func(promotion.Target) bool {
	return func(target promotion.Target) bool {
		root := len(c.config.Settings(target.Environment, target.Application).After) == 0
		return slices.Contains(shown, target.Environment) && (root || len(options.Given) > 0)
	}
}

// offers asks for the versions of the components: the given ones where a person
// named versions, else the registries.
func (c *Checkout) offers(ctx context.Context, components []promotion.Followed, options Options) (map[string]promotion.Available, error) {
	if len(options.Given) > 0 {
		return explicitly(options.Given, components), nil
	}
	available := make(map[string]promotion.Available, len(components))
	var mutex sync.Mutex
	engine.Concurrently(components, func(component promotion.Followed) {
		version := c.ask(ctx, component, options.Versions)
		mutex.Lock()
		defer mutex.Unlock()
		available[component.Name] = version
		options.progress(Progress{Doing: "asking registries", Done: len(available), Total: len(components)})
	})
	return available, ctx.Err()
}

// offers gives each component the version that was named for its repository.
func explicitly(explicit promotion.ExplicitVersions, components []promotion.Followed) map[string]promotion.Available {
	available := make(map[string]promotion.Available, len(components))
	for _, component := range components {
		if version, named := explicit[component.Repository]; named {
			available[component.Name] = promotion.Available{Version: version, Found: true, Explicit: true}
		}
	}
	return available
}

func (c *Checkout) ask(ctx context.Context, component promotion.Followed, versions Versions) promotion.Available {
	selected, err := versions.Select(ctx, registry.Request{
		Repository: component.Repository,
		Policy:     c.config.Policy(component.Component.Name),
		Platforms:  component.Component.Select.Platforms,
		MinAge:     component.Component.Select.MinAge,
	})
	if err != nil {
		return promotion.Available{Err: err}
	}
	return offerOf(component.Name, selected)
}

// offerOf is what a registry selected, for a component.
func offerOf(component string, selected registry.Selection) promotion.Available {
	available := promotion.Available{Version: selected.Version, Found: selected.Found, Reason: selected.Reason}
	for _, held := range selected.Ineligible {
		available.Held = append(available.Held, holdback(component, held))
	}
	return available
}

// holdback shows a version that may not be taken yet as a condition.
func holdback(component string, held registry.Ineligible) promotion.HeldVersion {
	condition := promotion.Condition{
		Name:   component + " " + held.Tag,
		State:  promotion.Pending,
		Reason: held.Reason,
	}
	if !held.Until.IsZero() {
		until := held.Until.UTC()
		condition.Until = &until
	}
	return promotion.HeldVersion{Version: image.Version{Tag: held.Tag, Digest: held.Digest}, Condition: condition}
}

// facts answers the questions of the core. What a registry does not answer stays
// unknown, and is an error of the component; that there is no such version is an
// answer.
func (c *Checkout) facts(ctx context.Context, observation promotion.Observation, options Options) (promotion.Facts, map[string]error, error) {
	facts, failed := promotion.Facts{}, map[string]error{}
	if len(options.Given) > 0 {
		return facts, failed, nil
	}
	var mutex sync.Mutex
	engine.Concurrently(promotion.Lookups(observation), func(question promotion.Lookup) {
		version, err := answer(ctx, question, options.Versions)
		mutex.Lock()
		defer mutex.Unlock()
		if err != nil && fault.KindOf(err) != fault.NotFound {
			failed[question.Component] = err
			return
		}
		facts[question.Fact] = version
	})
	return facts, failed, ctx.Err()
}

func answer(ctx context.Context, question promotion.Lookup, versions Versions) (image.Version, error) {
	version, err := versions.Resolve(ctx, image.Reference{
		Repository: question.Repository,
		Name:       question.Repository.String(),
		Tag:        question.Tag,
		Digest:     question.Digest,
	})
	if err != nil || !question.Created {
		return version, err
	}
	described, err := versions.Describe(ctx, question.Repository, version.Digest)
	if err != nil {
		return version, err
	}
	described.Tag, described.Digest = version.Tag, version.Digest
	return described, nil
}
