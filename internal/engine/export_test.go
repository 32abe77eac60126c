package engine

import "context"

// The phases, for tests of each alone.

func ObserveOnce(ctx context.Context, r *Reconciler) (Observation, error) {
	return r.observe(ctx, basis{last: true})
}

func MakePlan(o Observation) Plan { return makePlan(o) }

func Act(ctx context.Context, r *Reconciler, o Observation, plan Plan) (Report, bool, error) {
	report, _, again, err := r.act(ctx, o, plan)
	return report, again, err
}
