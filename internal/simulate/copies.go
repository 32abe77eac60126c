package simulate

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"promoter/internal/fault"
	"promoter/internal/health"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/reconcile/observe"
	"promoter/internal/repo"
	"promoter/internal/statebranch"
)

// listing is a Remote that lists the branches once: what others push meanwhile is no part of
// the simulation.
type listing struct {
	repo.Remote
	refs *repo.Refs
}

// Refs implements repo.Remote.
func (l *listing) Refs(ctx context.Context) (repo.Refs, error) {
	if l.refs == nil {
		refs, err := l.Remote.Refs(ctx)
		if err != nil {
			return refs, err
		}
		l.refs = &refs
	}
	refs := *l.refs
	refs.Branches = maps.Clone(refs.Branches)
	return refs, nil
}

// objects remembers which commits the simulation wrote: the forge does not have them.
type objects struct {
	repo.Objects
	written map[string]bool
}

// Write implements repo.Objects.
func (o objects) Write(draft repo.Draft) (string, error) {
	id, err := o.Objects.Write(draft)
	if err == nil {
		o.written[id] = true
	}
	return id, err
}

// branchMemory is an observe.BranchMemory that remembers nothing in the original.
type branchMemory struct {
	observe.BranchMemory
	heads map[string]string
}

// Last implements observe.BranchMemory.
func (m *branchMemory) Last() map[string]string {
	if m.heads == nil {
		m.heads = m.BranchMemory.Last()
	}
	return m.heads
}

// Remember implements observe.BranchMemory.
func (m *branchMemory) Remember(heads map[string]string) error {
	m.heads = heads
	return nil
}

// sealMemory is a statebranch.SealMemory that remembers nothing in the original.
type sealMemory struct {
	statebranch.SealMemory
	newest *statebranch.SealedCommit
}

// Newest implements statebranch.SealMemory.
func (m *sealMemory) Newest(ctx context.Context) (statebranch.SealedCommit, error) {
	if m.newest != nil {
		return *m.newest, nil
	}
	return m.SealMemory.Newest(ctx)
}

// Remember implements statebranch.SealMemory.
func (m *sealMemory) Remember(_ context.Context, newest statebranch.SealedCommit) error {
	m.newest = &newest
	return nil
}

// evidence is an observe.Evidence that stores nothing in the original, which may be nil.
type evidence struct {
	original observe.Evidence
	stored   map[health.Key]health.State
	assumed  map[promotion.Target]health.Status // without an application: of all in the environment
}

// health returns the health that is assumed for a target.
func (e *evidence) health(target promotion.Target) (health.Status, bool) {
	status, assumed := e.assumed[target]
	if !assumed {
		status, assumed = e.assumed[promotion.Target{Environment: target.Environment}]
	}
	return status, assumed
}

// Reports implements observe.Evidence.
func (e *evidence) Reports(ctx context.Context, receivers []string) ([]health.Report, error) {
	if e.original == nil {
		return nil, nil
	}
	return e.original.Reports(ctx, receivers)
}

// Load implements observe.Evidence.
func (e *evidence) Load(ctx context.Context, keys []health.Key) (map[health.Key]health.State, error) {
	all := map[health.Key]health.State{}
	if e.original != nil {
		loaded, err := e.original.Load(ctx, keys)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, loaded)
	}
	for _, key := range keys {
		if state, stored := e.stored[key]; stored {
			all[key] = state
		}
	}
	return all, nil
}

// Store implements observe.Evidence.
func (e *evidence) Store(_ context.Context, states map[health.Key]health.State) error {
	maps.Copy(e.stored, states)
	return nil
}

// registries answers as the registries do now, once for each question, with the versions that
// are assumed. A version that is only too young is selected when it is old enough.
type registries struct {
	observe.Registries
	now      func() time.Time
	assumed  []*assumed
	mutex    sync.Mutex
	selected map[string]promotion.Available
}

// assumed is a version that --with names.
type assumed struct {
	text       string
	repository image.Repository // known once a component matched
	version    image.Version
	used       bool
	err        error
}

// Select implements observe.Registries.
func (r *registries) Select(ctx context.Context, request observe.VersionRequest) promotion.Available {
	for _, one := range r.assumed {
		if wanted, ok := one.of(request); ok {
			return r.assume(ctx, one, request, wanted)
		}
	}
	key := request.Name + " " + request.Repository.String()
	r.mutex.Lock()
	available, known := r.selected[key]
	r.mutex.Unlock()
	if !known {
		available = r.Registries.Select(ctx, request)
		r.mutex.Lock()
		r.selected[key] = available
		r.mutex.Unlock()
	}
	for i, held := range available.Held { // best first
		if until := held.Condition.Until; until == nil || r.now().Before(*until) {
			continue
		}
		fact := promotion.Fact{Repository: request.Repository, Tag: held.Version.Tag, Digest: held.Version.Digest}
		lookup := promotion.Lookup{Fact: fact, Component: request.Name, Created: true}
		version, err := r.Registries.Resolve(ctx, lookup)
		if err != nil {
			return promotion.Available{Err: err}
		}
		version.Tag, version.Digest = held.Version.Tag, held.Version.Digest
		return promotion.Available{Version: version, Found: true, Held: available.Held[:i]}
	}
	return available
}

// of returns the reference of an assumed version if it is of the component.
func (a *assumed) of(request observe.VersionRequest) (image.Reference, bool) {
	if name, version := cutVersion(a.text); name == request.Name {
		wanted, err := image.Parse(request.Repository.String() + version)
		return wanted, err == nil
	}
	wanted, err := image.Parse(a.text)
	return wanted, err == nil && wanted.Repository == request.Repository
}

// cutVersion cuts a text like web:1.4@sha256:… after the name.
func cutVersion(text string) (name, version string) {
	at := strings.IndexAny(text, ":@")
	if at < 0 {
		return text, ""
	}
	return text[:at], text[at:]
}

// assume returns an assumed version as available. One that the registry does not have needs a
// digest.
func (r *registries) assume(ctx context.Context, one *assumed, request observe.VersionRequest, wanted image.Reference) promotion.Available {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !one.used {
		one.used, one.repository = true, request.Repository
		fact := promotion.Fact{Repository: wanted.Repository, Tag: wanted.Tag, Digest: wanted.Digest}
		lookup := promotion.Lookup{Fact: fact, Component: request.Name, Created: true}
		version, err := r.Registries.Resolve(ctx, lookup)
		switch {
		case err != nil:
			one.err = err
		case version.Digest == "" && wanted.Digest == "":
			one.err = fault.New(fault.Invalid,
				"the registry has no %s: add @sha256:… to simulate a version that does not exist yet", one.text)
		}
		one.version = version
		one.version.Tag = wanted.Tag
		if wanted.Digest != "" {
			one.version.Digest = wanted.Digest
		}
	}
	if one.err != nil {
		return promotion.Available{Err: one.err}
	}
	return promotion.Available{Version: one.version, Found: true}
}

// Resolve implements observe.Registries.
func (r *registries) Resolve(ctx context.Context, lookup promotion.Lookup) (image.Version, error) {
	r.mutex.Lock()
	for _, one := range r.assumed {
		same := lookup.Digest == "" || lookup.Digest == one.version.Digest
		named := lookup.Tag == "" && lookup.Digest != "" || lookup.Tag == one.version.Tag
		if one.used && lookup.Release == "" && lookup.Repository == one.repository && same && named {
			r.mutex.Unlock()
			return one.version, one.err
		}
	}
	r.mutex.Unlock()
	return r.Registries.Resolve(ctx, lookup)
}
