package decision

import (
	"cmp"
	"context"
	"slices"

	"promoter/internal/promotion"
	"promoter/internal/state"
	"promoter/internal/verb"
)

// ends reports whether a decision ends others.
func ends(d Decision) bool {
	return d.Verb == verb.Resume || d.Verb == verb.Unreject || d.Verb == verb.Thaw
}

// endsStop reports whether a verb ends a decision that stops promotions.
func endsStop(v verb.Verb, stop state.Stop) bool {
	switch stop.Kind {
	case state.KindFreeze:
		return v == verb.Thaw
	case state.KindReject:
		return v == verb.Unreject || v == verb.Resume && stop.Rejection.Rollback
	default:
		return v == verb.Resume
	}
}

// goneTarget returns the record that a user ends although the repository no longer has a target of its name: what it
// was about may have another name now.
func goneTarget(ctx context.Context, d Decision, r repository) (promotion.Target, bool, error) {
	if !ends(d) || d.Environment == "" {
		return promotion.Target{}, false, nil
	}
	s, err := r.workspace.Reconciler.Clients.StateBranch().State(ctx)
	if err != nil {
		return promotion.Target{}, false, err
	}
	_, exists := r.config.Environment(d.Environment)
	named := promotion.Target{Environment: d.Environment, Application: cmp.Or(d.Application, state.All)}
	if exists && d.Application == "" || !r.covers(promotion.Target{Environment: d.Environment, Application: d.Application}) {
		return promotion.Target{}, false, nil
	}
	if exists {
		s, err = r.workspace.Reconciler.Clients.Located(ctx, s)
		if err != nil {
			return promotion.Target{}, false, err
		}
		gone := slices.ContainsFunc(s.Gone(), func(stop state.Stop) bool { return covers(state.Target(named), stop.Of) })
		return named, gone, nil
	}
	has := func(of state.Target) bool { return covers(state.Target(named), of) }
	return named, slices.ContainsFunc(s.Targets(), has), nil
}

// released returns the targets that decisions stop under other names, if a user ends these: that user decides about
// them too.
func released(ctx context.Context, d Decision, r repository, targets []promotion.Target) ([]promotion.Target, error) {
	if !ends(d) {
		return nil, nil
	}
	clients := r.workspace.Reconciler.Clients
	s, err := clients.StateBranch().State(ctx)
	if err != nil {
		return nil, err
	}
	concerned := slices.DeleteFunc(s.Stops(clients.Now()), func(stop state.Stop) bool {
		return !endsStop(d.Verb, stop) || !coversAny(targets, stop.Of)
	})
	if len(concerned) == 0 {
		return nil, nil
	}
	if s, err = clients.Located(ctx, s); err != nil {
		return nil, err
	}
	var all []promotion.Target
	for _, stop := range concerned {
		for _, target := range s.Elsewhere(stop) {
			all = append(all, promotion.Target(target))
		}
	}
	slices.SortFunc(all, promotion.Target.Compare)
	return slices.Compact(all), nil
}
