package view

import (
	"context"
	"slices"

	"promoter/internal/access"
	"promoter/internal/drift"
	"promoter/internal/store"
)

// EnvironmentTarget is one application in an environment: what is in the files, what is wanted,
// and what runs.
type EnvironmentTarget struct {
	TargetName
	Branch     string            `json:"branch"`
	Status     Status            `json:"status"`
	Components []ActualComponent `json:"components"`
	Sync       string            `json:"sync,omitempty"`   // as the source of health reports it
	Health     string            `json:"health,omitempty"` // likewise
	Drift      []drift.Drift     `json:"drift"`
	Reason     *Reason           `json:"reason,omitempty"`
}

// ActualComponent is a component with what runs.
type ActualComponent struct {
	Component
	Actual string `json:"actual,omitempty"` // the image that runs instead, if a source reports another one
}

// Environments lists the applications of environments.
func (v *View) Environments(ctx context.Context, p access.Principal, q ListQuery) (Page[EnvironmentTarget], error) {
	drifts, err := v.driftByTarget(ctx)
	if err != nil {
		return Page[EnvironmentTarget]{}, err
	}
	return listTargets(ctx, v, p, q, func(name TargetName, t store.Target) *EnvironmentTarget {
		shown := targetOf(t, store.Landed{})
		one := &EnvironmentTarget{
			TargetName: name, Branch: shown.Branch, Status: shown.Status, Reason: shown.Reason,
			Components: []ActualComponent{}, Drift: []drift.Drift{},
		}
		var actual []store.EventVersion
		if reported := t.Detail.Health; reported != nil {
			one.Sync, one.Health = reported.Sync, reported.Status
			actual = reported.Actual
		}
		for _, c := range shown.Components {
			component := ActualComponent{Component: c}
			if i := slices.IndexFunc(actual, func(v store.EventVersion) bool { return v.Component == c.Name }); i >= 0 {
				component.Actual = actual[i].Image()
			}
			one.Components = append(one.Components, component)
		}
		key := store.TargetKey{Repository: name.Key, Environment: name.Environment, Application: name.Application}
		one.Drift = append(one.Drift, drifts[key]...)
		return one
	})
}

// Evidence is what sources reported about the health of a target.
type Evidence struct {
	TargetName
	Health store.TargetHealth `json:"health"`
}

// Evidence lists the targets that have a source of health.
func (v *View) Evidence(ctx context.Context, p access.Principal, q ListQuery) (Page[Evidence], error) {
	return listTargets(ctx, v, p, q, func(name TargetName, t store.Target) *Evidence {
		if t.Detail.Health == nil {
			return nil
		}
		return &Evidence{TargetName: name, Health: *t.Detail.Health}
	})
}

// InEffect are the user decisions in effect for a target.
type InEffect struct {
	TargetName
	Hold    *store.TargetHold    `json:"hold,omitempty"`    // or a freeze
	Request *store.TargetRequest `json:"request,omitempty"` // not done yet
}

// Decisions lists the targets for which a hold, a freeze, or a request is in effect.
func (v *View) Decisions(ctx context.Context, p access.Principal, q ListQuery) (Page[InEffect], error) {
	return listTargets(ctx, v, p, q, func(name TargetName, t store.Target) *InEffect {
		if t.Detail.Hold == nil && t.Detail.Request == nil {
			return nil
		}
		return &InEffect{TargetName: name, Hold: t.Detail.Hold, Request: t.Detail.Request}
	})
}
