package engine

import (
	"context"
	"sync"
	"time"

	"promoter/internal/promotion"

	"golang.org/x/sync/errgroup"

	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/state"
)

// askAtOnce is how many questions are asked side by side. The budget of each host
// lies in the client.
const askAtOnce = 8

// Concurrently asks about each value, at most askAtOnce at a time, and waits for all
// of them. What fails is kept as the answer, so one failure stops no other. A panic is
// one of the caller, who may survive it: in a goroutine it would end the process.
func Concurrently[T any](values []T, ask func(T)) {
	var group errgroup.Group
	group.SetLimit(askAtOnce)
	for _, value := range values {
		group.Go(func() (err error) {
			defer fault.Survive(&err)
			ask(value)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		panic(err)
	}
}

// lookAtVersions asks the registries: what is offered to the environments that
// follow no other, what requests name, and what only they can tell about versions
// in files.
func (v *view) lookAtVersions(ctx context.Context) error {
	v.observed.Policies = promotion.Policies(v.observed.Config, v.observed.Targets)
	v.askOffers(ctx)
	v.askGiven(ctx)
	v.askFacts(ctx)
	return ctx.Err()
}

// followed returns what is asked about the components of the places.
func (v *view) followed(in func(promotion.Target) bool) []VersionRequest {
	var asks []VersionRequest
	for _, f := range promotion.FollowedIn(v.observed.Config, v.observed.Targets, in) {
		asks = append(asks, VersionRequest{
			Component: f.Component, Name: f.Name, Repository: f.Repository,
			Policy: v.observed.Config.Policy(f.Component.Name), FirstSeen: v.firstSeen(f.Name),
		})
	}
	return asks
}

// firstSeen tells when a digest was first offered anywhere in the repository.
func (v *view) firstSeen(component string) func(digest string) (time.Time, bool) {
	return func(digest string) (earliest time.Time, known bool) {
		for _, target := range v.observed.State.Targets() {
			for _, version := range v.observed.State.At(target).Versions {
				if version.Component == component && version.Digest == digest && (!known || version.At.Before(earliest)) {
					earliest, known = version.At, true
				}
			}
		}
		return earliest, known
	}
}

func (v *view) isRoot(target promotion.Target) bool {
	return len(v.observed.Config.Settings(target.Environment, target.Application).After) == 0
}

// askOffers asks for the wanted versions. What a registry fails to answer is
// trouble of its component alone.
func (v *view) askOffers(ctx context.Context) {
	v.observed.Available = map[string]promotion.Available{}
	var mutex sync.Mutex
	Concurrently(v.followed(v.isRoot), func(ask VersionRequest) {
		available := v.Registries.Select(ctx, ask)
		mutex.Lock()
		defer mutex.Unlock()
		v.observed.Available[ask.Name] = available
		if available.Err != nil {
			v.trouble("component "+ask.Name, available.Err)
		}
	})
}

// askGiven asks what the versions are that requests name.
func (v *view) askGiven(ctx context.Context) {
	v.observed.Explicit = map[promotion.Target]map[string]promotion.Available{}
	for target := range v.observed.Targets {
		request := v.observed.State.At(state.Target(target)).Request
		if request == nil || len(request.With) == 0 {
			continue
		}
		given := map[string]promotion.Available{}
		for _, text := range request.With {
			v.askOne(ctx, target, text, given)
		}
		v.observed.Explicit[target] = given
	}
}

// askOne finds the component that a request's version belongs to, and its digest.
func (v *view) askOne(ctx context.Context, target promotion.Target, text string, given map[string]promotion.Available) {
	wanted, err := image.Parse(text)
	if err != nil {
		v.trouble("request for "+target.Application+" in "+target.Environment, err)
		return
	}
	for _, r := range v.observed.Targets[target].References {
		if r.Repository != wanted.Repository {
			continue
		}
		fact := promotion.Fact{Repository: wanted.Repository, Tag: wanted.Tag, Digest: wanted.Digest}
		version, err := v.Registries.Resolve(ctx, promotion.Lookup{Fact: fact, Component: r.Component})
		available := promotion.Available{Version: version, Found: version.Digest != "", Explicit: true, Err: err}
		if err == nil && !available.Found {
			available.Reason = "the registry has no " + text
		}
		if available.Version.Tag == "" {
			available.Version.Tag = wanted.Tag
		}
		given[r.Component] = available
		return
	}
	v.trouble("request for "+target.Application+" in "+target.Environment,
		fault.New(fault.Invalid, "its files refer to no %s", wanted.Repository))
}

// askFacts answers the questions of the core. What fails stays unknown, and the
// core goes no further without it.
func (v *view) askFacts(ctx context.Context) {
	if v.observed.Facts == nil {
		v.observed.Facts = promotion.Facts{}
	}
	var mutex sync.Mutex
	Concurrently(promotion.Lookups(v.observed), func(question promotion.Lookup) {
		version, err := v.Registries.Resolve(ctx, question)
		mutex.Lock()
		defer mutex.Unlock()
		if err != nil {
			v.trouble("component "+question.Component, err)
			return
		}
		v.observed.Facts[question.Fact] = version
	})
}
