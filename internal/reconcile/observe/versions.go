package observe

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"promoter/internal/config/trust"
	"promoter/internal/edit"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/parallel"
	"promoter/internal/promotion"
	"promoter/internal/promotion/decide"
	"promoter/internal/repo"
	"promoter/internal/state"
)

// registryRequests is how many registry requests run at the same time. The HTTP client
// limits those of each host.
const registryRequests = 8

// concurrently calls ask for each value, at most registryRequests at a time, and waits
// for all of them. A panic continues in the caller, which may recover it.
func concurrently[T any](values []T, ask func(T)) {
	err := parallel.ForEach(registryRequests, values, func(value T) error {
		ask(value)
		return nil
	})
	if err != nil {
		panic(err)
	}
}

// readVersions asks for the versions of the components that are decided about, and for what
// the planner needs to know about them. The error is that of the context, or of the planner's budget.
func (r Reader) readVersions(ctx context.Context, o Observation, failures *repo.Collector) (Observation, error) {
	o = o.withFollowed(r.Server.Verify)
	o.Promotion.Available = r.selectVersions(ctx, o, failures)
	o.Promotion.Explicit = resolveRequested(ctx, r.Clients.Registries, o, failures)
	return r.withFacts(ctx, o, failures)
}

// withFollowed returns the observation with what the config and the server say about the
// components of the applications that are decided about. What others have stays.
func (o Observation) withFollowed(server func(image.Repository) []trust.Requirement) Observation {
	followed := promotion.FollowedIn(o.Promotion.Config, o.Promotion.Selected(), promotion.Everywhere)
	o.Promotion.Policies = promotion.Policies(o.Promotion.Config, followed)
	o.Promotion.Verify = promotion.Verifications(followed, server)
	if o.Entry != nil {
		o.Promotion = o.Entry.Rules(o.Promotion)
	}
	return o
}

// selectVersions asks for the version of each component in an environment without
// parents. A registry error is the error of its component alone.
func (r Reader) selectVersions(ctx context.Context, o Observation, failures *repo.Collector) map[string]promotion.Available {
	hasNoParents := func(target promotion.Target) bool {
		return len(o.Promotion.Config.Settings(target.Environment, target.Application).After) == 0
	}
	type selection struct {
		request VersionRequest
		promotion.Available
	}
	references := map[string][]*edit.Reference{}
	for target, current := range o.Promotion.Selected() {
		if !hasNoParents(target) {
			continue
		}
		for i := range current.References {
			reference := &current.References[i]
			references[reference.Component] = append(references[reference.Component], reference)
		}
	}
	var selections []*selection
	for _, f := range promotion.FollowedIn(o.Promotion.Config, o.Promotion.Selected(), hasNoParents) {
		selections = append(selections, &selection{request: VersionRequest{
			Component: f.Component, Name: f.Name, Repository: f.Repository,
			Policy: o.Promotion.Config.Policy(f.Component.Name), FirstSeen: firstSeen(o.Promotion.State, f.Name),
			InUse:  func(v image.Version) bool { return inUse(references[f.Name], v) },
			Newer:  o.Explained != nil,
			Verify: o.Promotion.Verify[f.Name],
		}})
	}
	asked := counted(r.Progress, "querying registries", len(selections))
	concurrently(selections, func(s *selection) {
		s.Available = noteUnsealed(r.Clients.Registries.Select(ctx, s.request), o.Promotion.State, s.request)
		asked()
	})
	available := map[string]promotion.Available{}
	for _, s := range selections {
		available[s.request.Name] = s.Available
		if s.Err != nil {
			failures.Add("component "+s.request.Name, s.Err)
		}
	}
	return available
}

// counted returns a function that reports one more of a total as done. It may be called by many
// goroutines.
func counted(progress func(doing string, done, total int), doing string, total int) func() {
	if progress == nil {
		return func() {}
	}
	var mutex sync.Mutex
	done := 0
	return func() {
		mutex.Lock()
		defer mutex.Unlock()
		done++
		progress(doing, done, total)
	}
}

// inUse reports whether all references have a version, in the form in which it is written.
func inUse(references []*edit.Reference, v image.Version) bool {
	return !slices.ContainsFunc(references, func(r *edit.Reference) bool {
		same := (r.Tag == "" || r.Tag == v.Tag) && (r.Digest == "" || r.Digest == v.Digest)
		return !same || r.Tag == "" && r.Digest == "" || r.Form != edit.Form{}
	})
}

// firstSeen returns a function that returns when a digest was first recorded as
// available anywhere in the repository.
func firstSeen(recorded state.State, component string) func(digest string) (time.Time, bool) {
	counts := func(r state.Record) []state.Version { return r.Versions }
	return func(digest string) (time.Time, bool) { return state.Earliest(recorded, counts, component, digest) }
}

// noteUnsealed adds to each version that waits for its age an earlier time that does not count because it has no seal.
func noteUnsealed(available promotion.Available, recorded state.State, request VersionRequest) promotion.Available {
	if request.Component.Select.MinAge == 0 || len(recorded.SetAside()) == 0 {
		return available
	}
	setAside := func(r state.Record) []state.Version { return r.UnsealedVersions }
	available.Held = slices.Clone(available.Held) // it may be shared
	for i, held := range available.Held {
		at, found := state.Earliest(recorded, setAside, request.Component.Name, held.Version.Digest)
		counts, known := request.FirstSeen(held.Version.Digest)
		if !found || held.Condition.Until == nil || known && !at.Before(counts) {
			continue
		}
		available.Held[i].Condition.Reason += promotion.NoSeal(at)
		if strings.HasSuffix(available.Reason, held.Condition.Reason) { // it is the reason why there is none
			available.Reason += promotion.NoSeal(at)
		}
	}
	return available
}

// resolveRequested resolves the versions that promotion requests name.
func resolveRequested(
	ctx context.Context, registries Registries, o Observation, failures *repo.Collector,
) map[promotion.Target]map[string]promotion.Available {
	explicit := map[promotion.Target]map[string]promotion.Available{}
	for _, target := range sortedTargets(o.Promotion.Selected()) {
		request := o.Promotion.State.At(state.Target(target)).Request
		if request == nil || len(request.With) == 0 {
			continue
		}
		explicit[target] = map[string]promotion.Available{}
		for _, text := range request.With {
			component, available, err := resolveReference(ctx, registries, o.Promotion, target, text, request.Posted != "")
			if err != nil {
				failures.Add("request for "+target.Application+" in "+target.Environment, err)
				continue
			}
			explicit[target][component] = available
		}
	}
	return explicit
}

// sortedTargets returns targets by environment and application.
func sortedTargets(all iter.Seq2[promotion.Target, promotion.Current]) []promotion.Target {
	var targets []promotion.Target
	for target := range all {
		targets = append(targets, target)
	}
	slices.SortFunc(targets, promotion.Target.Compare)
	return targets
}

// resolveReference finds the component of an explicit version, its digest, and its date if
// that is needed.
func resolveReference(
	ctx context.Context, registries Registries, o promotion.Observation, target promotion.Target, text string, created bool,
) (string, promotion.Available, error) {
	wanted, err := image.Parse(text)
	if err != nil {
		return "", promotion.Available{}, err
	}
	current := o.Targets[target]
	i := slices.IndexFunc(current.References, func(r edit.Reference) bool { return r.Names(wanted.Repository) })
	if i < 0 {
		return "", promotion.Available{}, fault.New(fault.Invalid, "its files do not refer to %s", wanted.Repository)
	}
	component := current.References[i].Component
	wanted.Repository = current.References[i].Repository
	fact := promotion.Fact{Repository: wanted.Repository, Tag: wanted.Tag, Digest: wanted.Digest}
	lookup := promotion.Lookup{Fact: fact, Component: component, Created: created, Verify: o.Verify[component]}
	version, err := registries.Resolve(ctx, lookup)
	available := promotion.Available{Version: version, Found: version.Digest != "", Explicit: true, Err: err}
	if err == nil && !available.Found {
		available.Reason = "the registry has no " + text
	}
	available.Version.Tag = cmp.Or(available.Version.Tag, wanted.Tag)
	return component, available, nil
}

// withFacts returns the observation with the answers to the lookups of the planner. What fails stays
// unknown, and the planner does not proceed without it.
func (r Reader) withFacts(ctx context.Context, o Observation, failures *repo.Collector) (Observation, error) {
	lookups, err := decide.LookupsOf(ctx, o.Promotion)
	if err != nil {
		return o, err
	}
	o = resolve(ctx, r.Clients.Registries, o, lookups, failures)
	if lookups, err = decide.MirrorLookupsOf(ctx, o.Promotion); err != nil {
		return o, err
	}
	return resolve(ctx, r.Clients.Registries, o, lookups, failures), ctx.Err()
}

func resolve(
	ctx context.Context, registries Registries, o Observation, of map[string][]promotion.Lookup, failures *repo.Collector,
) Observation {
	type resolution struct {
		promotion.Lookup
		version image.Version
		err     error
	}
	var resolutions []*resolution
	for _, lookup := range decide.Merged(of) {
		resolutions = append(resolutions, &resolution{Lookup: lookup})
	}
	concurrently(resolutions, func(one *resolution) { one.version, one.err = registries.Resolve(ctx, one.Lookup) })
	facts, factsOf := promotion.Facts{}, map[string]promotion.Facts{}
	maps.Copy(facts, o.Promotion.Facts)
	maps.Copy(factsOf, o.Promotion.FactsOf)
	answered := map[promotion.Fact]image.Version{}
	for _, one := range resolutions {
		if one.err != nil {
			failures.Add("component "+one.Component, one.err)
			continue
		}
		facts[one.Fact], answered[one.Fact] = one.version.With(facts[one.Fact]), one.version
	}
	for application, lookups := range of {
		own := maps.Clone(factsOf[application])
		if own == nil {
			own = promotion.Facts{}
		}
		for _, lookup := range lookups {
			if version, known := answered[lookup.Fact]; known {
				own[lookup.Fact] = lookup.Only(version).With(own[lookup.Fact])
			}
		}
		factsOf[application] = own
	}
	o.Promotion.Facts, o.Promotion.FactsOf = facts, factsOf
	return o
}
