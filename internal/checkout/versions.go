package checkout

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"promoter/internal/config"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/parallel"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
	"promoter/internal/registry"
	"promoter/internal/signature"
)

// Versions reads the registries. It is a subset of registry.View.
type Versions interface {
	Select(ctx context.Context, request registry.Request) (registry.Selection, error)
	Lookup(ctx context.Context, lookup promotion.Lookup) (image.Version, error)
}

// maxRequests is how many registries are asked at the same time. The client limits
// the requests to each host.
const maxRequests = 8

// explicitVersions returns the versions that the user named. They are available in
// all targets, not only in those without a parent. A registry is asked only for the
// signatures that the config requires.
func (c *Checkout) explicitVersions(
	ctx context.Context, observation promotion.Observation, options Options, failed map[string]error,
) map[string]promotion.Available {
	shown := func(target promotion.Target) bool {
		return slices.Contains(observation.Environments, target.Environment)
	}
	available := map[string]promotion.Available{}
	for _, component := range promotion.FollowedIn(c.config, observation.Selected(), shown) {
		version, ok := options.Explicit[component.Repository]
		if !ok || c.isOfAnother(component, version.Tag) {
			continue
		}
		if required := observation.Verify[component.Name]; len(required) > 0 {
			found, err := options.Versions.Lookup(ctx, promotion.Lookup{
				Fact:      promotion.Fact{Repository: component.Repository, Tag: version.Tag, Digest: version.Digest},
				Component: component.Name, Verify: required,
			})
			if err != nil {
				failed[component.Name] = err
			}
			version.Signature = found.Signature
		}
		available[component.Name] = promotion.Available{Version: version, Found: true, Explicit: true}
	}
	return available
}

// isOfAnother reports whether a tag that a user named is of another component of the same repository.
func (c *Checkout) isOfAnother(component promotion.Followed, tag string) bool {
	if policy := c.config.Policy(component.Component.Name); policy == nil || policy.Admits(tag) {
		return false
	}
	for _, other := range c.config.Components {
		sameKind := other.Name != component.Component.Name && other.Artifact == component.Component.Artifact
		sameRepository := other.Pattern.IsExact() && other.Pattern.Match(component.Repository)
		if sameKind && sameRepository && c.config.Policy(other.Name).Admits(tag) {
			return true
		}
	}
	return false
}

// askRegistries sets the available versions of the components in targets without
// a parent, and then the facts that a plan with these versions needs. What fails is
// an error of its component.
func (c *Checkout) askRegistries(ctx context.Context, observation *promotion.Observation, options Options, failed map[string]error) error {
	withoutParent := func(target promotion.Target) bool {
		return slices.Contains(observation.Environments, target.Environment) &&
			len(c.config.Settings(target.Environment, target.Application).After) == 0
	}
	components := promotion.FollowedIn(c.config, observation.Selected(), withoutParent)
	observation.Available = make(map[string]promotion.Available, len(components))
	var mutex sync.Mutex
	err := parallel.ForEach(maxRequests, components, func(component promotion.Followed) error {
		selection, err := c.selected(ctx, component, observation, options)
		mutex.Lock()
		defer mutex.Unlock()
		if err != nil {
			failed[component.Name] = err
			observation.Available[component.Name] = promotion.Available{Err: err}
		} else {
			observation.Available[component.Name] = selection.Available(component.Name)
		}
		if options.Progress != nil {
			options.Progress("querying registries", len(observation.Available), len(components))
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}

	lookups, err := decide.Lookups(ctx, *observation)
	if err != nil {
		return err
	}
	return askFacts(ctx, observation, lookups, options, failed)
}

// selected returns what the registry has of a component, and what is selected.
func (c *Checkout) selected(
	ctx context.Context, component promotion.Followed, observation *promotion.Observation, options Options,
) (registry.Selection, error) {
	signed, err := signature.New(observation.Verify[component.Name])
	if err != nil {
		return registry.Selection{}, err
	}
	return options.Versions.Select(ctx, registry.Request{
		Repository: component.Repository,
		Policy:     c.config.Policy(component.Component.Name),
		Artifact:   component.Component.Artifact,
		Platforms:  component.Component.Select.Platforms,
		MinAge:     component.Component.Select.MinAge,
		DigestOnly: !c.writesRevision(component.Component),
		Present:    func(tag string) bool { return present(observation.Targets, component.Name, tag) },
		Newer:      options.explains(),
		Signed:     signed,
	})
}

// present reports whether files have a tag of a component.
func present(targets map[promotion.Target]promotion.Current, component, tag string) bool {
	for _, current := range targets {
		if slices.ContainsFunc(current.References, func(r edit.Reference) bool { return r.Component == component && r.Tag == tag }) {
			return true
		}
	}
	return false
}

// askFacts adds the answers to lookups to the observation.
func askFacts(
	ctx context.Context, observation *promotion.Observation, lookups []promotion.Lookup, options Options, failed map[string]error,
) error {
	facts := promotion.Facts{}
	maps.Copy(facts, observation.Facts)
	observation.Facts = facts
	var mutex sync.Mutex
	return parallel.ForEach(maxRequests, lookups, func(lookup promotion.Lookup) error {
		version, err := options.Versions.Lookup(ctx, lookup)
		mutex.Lock()
		defer mutex.Unlock()
		switch {
		case err == nil, fault.KindOf(err) == fault.NotFound: // that a version does not exist is a fact, too
			facts[lookup.Fact] = version
		case failed[lookup.Component] == nil:
			failed[lookup.Component] = err
		}
		return ctx.Err()
	})
}

// writesRevision reports whether files may need the source commit of a component.
func (c *Checkout) writesRevision(component config.Component) bool {
	return component.Source != "" || slices.ContainsFunc(c.config.Environments, func(e config.Environment) bool {
		return slices.ContainsFunc(e.Write, func(w config.Write) bool { return strings.Contains(w.Value, "{revision}") })
	})
}
