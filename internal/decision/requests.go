package decision

import (
	"context"
	"maps"
	"slices"
	"strings"

	"promoter/internal/api"
	"promoter/internal/config/setting"
	"promoter/internal/fault"
	"promoter/internal/image"
	"promoter/internal/promotion"
	"promoter/internal/state"
)

// requested is what a promote records.
type requested struct {
	targets    []promotion.Target // for which something is requested
	requests   map[promotion.Target]state.Request
	promotions []api.DecidedPromotion
	effects    []string
}

// requestWaiting binds a request for each target to what waits there: the versions that the command prints, and
// no others. A target in which nothing waits gets none, with the reason. It is an error if nothing is requested because
// what is wanted can never come.
func requestWaiting(ctx context.Context, d Decision, r repository, targets []promotion.Target, act state.Act) (requested, error) {
	bare := state.Request{Act: act, With: d.With, Bypass: d.Bypass}
	unbound := addRequests(targets, func(promotion.Target) state.Request { return bare })
	observed, decisions, err := r.workspace.Reconciler.Decide(ctx, unbound...)
	if err == nil && observed.Config == nil {
		err = fault.New(fault.Invalid, "nothing can be done in the repository: 'promoter doctor' reports why")
	}
	if err != nil {
		return requested{}, err
	}
	all := requested{requests: map[promotion.Target]state.Request{}}
	var never []string
	for _, target := range targets {
		text := name(state.Target(target))
		decided, found := decisionOf(decisions, target)
		wanted, snapshot, why := waitingFor(d, observed, target, decided)
		switch settings := observed.Settings(target.Environment, target.Application); {
		case !found:
			all.effects = append(all.effects, text+" has no files of this application")
			continue
		case settings.Propose == setting.ProposeAutomatic && len(d.With)+len(d.Bypass) == 0:
			text += " needs no request, because it has propose: automatic; it is " + string(decided.State) + ": " + decided.Reason.String()
			all.effects = append(all.effects, text)
			continue
		case why != nil:
			return requested{}, why
		case len(wanted) == 0:
			all.effects = append(all.effects, text+" has nothing to promote; it is "+string(decided.State)+": "+decided.Reason.String())
			continue
		}
		if len(d.For) > 0 && !sameImages(d.For, wanted) && !sameImages(d.For, imagesOf(decided, decided.Moves)) {
			return requested{}, fault.New(fault.Conflict, "%s waits for something else by now, %s: request that", text, versionsOf(wanted))
		}
		request := bare
		request.For, request.Snapshot = wanted, snapshot
		if len(d.For) > 0 && !sameImages(d.For, wanted) {
			request.For, request.Snapshot = imagesOf(decided, decided.Moves), decided.Snapshot.ID()
		}
		all.requests[target] = request
	}
	decisions, err = r.workspace.Reconciler.DecideAgain(ctx, observed, addRequests(slices.Collect(maps.Keys(all.requests)), all.request)...)
	if err != nil {
		return requested{}, err
	}
	for _, target := range targets {
		request, asked := all.requests[target]
		if !asked {
			continue
		}
		decided, _ := decisionOf(decisions, target)
		if decided.Ended != nil {
			delete(all.requests, target)
			never = append(never, name(state.Target(target))+" cannot get "+versionsOf(request.For)+": "+decided.Ended.Reason.String())
			continue
		}
		all.targets = append(all.targets, target)
		all.promotions = append(all.promotions, promotionOf(decided))
		all.effects = append(all.effects, name(state.Target(target))+" is "+string(decided.State)+": "+decided.Reason.String())
	}
	if len(all.targets) == 0 && len(never) > 0 {
		return requested{}, fault.New(fault.Invalid, "nothing is requested: %s", strings.Join(never, "; "))
	}
	all.effects = append(all.effects, never...)
	return all, nil
}

// request returns the request for a target.
func (all requested) request(target promotion.Target) state.Request { return all.requests[target] }

func addRequests(targets []promotion.Target, request func(promotion.Target) state.Request) []state.Change {
	changes := make([]state.Change, 0, len(targets))
	for _, target := range targets {
		changes = append(changes, state.AddRequest(state.Target(target), request(target)))
	}
	return changes
}

func decisionOf(decisions []promotion.Decision, target promotion.Target) (promotion.Decision, bool) {
	i := slices.IndexFunc(decisions, func(decided promotion.Decision) bool { return decided.Target == target })
	if i < 0 {
		return promotion.Decision{}, false
	}
	return decisions[i], true
}

// waitingFor returns the images for which a target waits, by component, and the ID of the snapshot that it has then: the
// versions that the user names, what waits behind an open pull request, or what is decided. If that is unknown, it
// returns an error.
func waitingFor(
	d Decision, o promotion.Observation, target promotion.Target, decided promotion.Decision,
) (images map[string]string, snapshot string, err error) {
	switch {
	case len(d.With) > 0:
		if decided.Fulfilled != nil {
			return nil, "", nil
		}
		images, err = named(d.With, o, target)
		return images, "", err
	case decided.State == promotion.Unanswered, decided.State == promotion.NotCheckedOut:
		return nil, "", fault.New(fault.Temporary, "what %s waits for is not known: %s", name(state.Target(target)), decided.Reason)
	case len(decided.Newer) > 0:
		return imagesOf(decided, decided.Newer), decided.Snapshot.With(decided.Newer).ID(), nil
	default:
		return imagesOf(decided, decided.Moves), decided.Snapshot.ID(), nil
	}
}

// named returns the images that a user names, with the digests that the registry has for them now. Without an answer, a
// tag counts.
func named(with []string, o promotion.Observation, target promotion.Target) (map[string]string, error) {
	images := map[string]string{}
	for component, available := range o.Explicit[target] {
		if available.Err == nil && !available.Found {
			return nil, fault.New(fault.NotFound, "%s: %s", component, available.Reason)
		}
		for _, reference := range o.Targets[target].References {
			if reference.Component == component {
				images[component] = promotion.Pinned{Repository: reference.Repository, Version: available.Version}.Reference()
			}
		}
	}
	if len(images) == 0 {
		return nil, fault.New(fault.Invalid, "no file of %s references %s", name(state.Target(target)), strings.Join(with, ", "))
	}
	return images, nil
}

// imagesOf returns the images that moves of a decision lead to, by component.
func imagesOf(decided promotion.Decision, moves []promotion.Move) map[string]string {
	images := map[string]string{}
	for _, move := range moves {
		images[move.Component] = promotion.Pinned{Repository: decided.Snapshot[move.Component].Repository, Version: move.To}.Reference()
	}
	return images
}

// sameImages reports whether two lists of images are the same versions.
func sameImages(a, b map[string]string) bool {
	same := func(a, b string) bool {
		x, err := image.Parse(a)
		y, other := image.Parse(b)
		return err == nil && other == nil &&
			promotion.SameRollout(x.Version(), y.Version())
	}
	return maps.EqualFunc(a, b, same)
}

// promotionsOf returns what changes of the state bring to targets, and what holds that. What cannot be decided is not
// shown: the next reconciliation may know more.
func promotionsOf(ctx context.Context, r repository, targets []promotion.Target, changes []state.Change) []api.DecidedPromotion {
	_, decisions, err := r.workspace.Reconciler.Decide(ctx, changes...)
	if err != nil {
		return nil
	}
	var all []api.DecidedPromotion
	for _, target := range targets {
		if decided, found := decisionOf(decisions, target); found {
			all = append(all, promotionOf(decided))
		}
	}
	return all
}

// promotionOf returns what a decision brings to its target, with each condition and gate that has not passed.
func promotionOf(d promotion.Decision) api.DecidedPromotion {
	holding := func(all []promotion.Condition) []promotion.Condition {
		found := []promotion.Condition{}
		for _, one := range all {
			if one.Blocks(false) {
				found = append(found, one)
			}
		}
		return found
	}
	shown := api.DecidedPromotion{
		Environment: d.Environment, Application: d.Application, State: d.State, Reason: d.Reason.Message,
		Moves: []api.DecidedMove{}, Conditions: holding(d.Conditions), Gates: holding(d.Gates),
	}
	if !d.Reason.Until.IsZero() {
		until := d.Reason.Until.UTC()
		shown.Until = &until
	}
	images := imagesOf(d, d.Moves)
	for _, move := range d.Moves {
		shown.Moves = append(shown.Moves, api.DecidedMove{
			Component: move.Component, From: promotion.Label(move.From), To: promotion.Label(move.To), Image: images[move.Component],
		})
	}
	return shown
}
