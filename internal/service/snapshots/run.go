package snapshots

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/access"
	"promoter/internal/api"
	"promoter/internal/promotion"
	"promoter/internal/store"
	"promoter/internal/view"
)

// Run implements api.Snapshots.
func (a *API) Run(ctx context.Context, name string, query api.SnapshotQuery) (api.Run, error) {
	r, err := a.repository(ctx, query)
	if err != nil {
		return api.Run{}, err
	}
	targets, err := a.Store.Targets.List(ctx, r.Key, "", query.Application)
	if err != nil {
		return api.Run{}, err
	}
	posted, err := a.Store.Snapshots.Get(ctx, r.Key, query.Application, name, readableApplications(query, r, targets))
	if err != nil {
		return api.Run{}, err
	}
	content, err := decode(posted)
	if err != nil {
		return api.Run{}, err
	}
	targets = slices.DeleteFunc(targets, func(t store.Target) bool { return t.Application != posted.Application })
	run := api.Run{
		Schema: api.Schema, At: a.Server.Now().UTC(), Repository: r.Address(), Key: r.Key, Application: posted.Application,
		Receiver: posted.Receiver, PostedAt: posted.PostedAt, Snapshot: content.Plain(), Steps: []api.Step{},
	}
	way := walk{posted: posted, reconciled: r.BeganAt.After(posted.PostedAt), steps: map[string]api.StepState{}, there: map[string]bool{}}
	for _, target := range targets {
		past, err := a.past(ctx, r.Key, target, posted.PostedAt.Add(-time.Second), maxPast)
		if err != nil {
			return api.Run{}, err
		}
		if step, part := way.step(target, past); part && mayRead(query, r, target) {
			run.Steps = append(run.Steps, step)
		}
	}
	run.State, run.Result = summary(run.Steps)
	return run, nil
}

// readableApplications returns a function that reports whether the principal of a query may read about
// an application: about one of its targets. One that has none was not reconciled yet, and no
// environment is known in which it will be.
func readableApplications(query api.SnapshotQuery, r store.Repository, targets []store.Target) func(application string) bool {
	readable := map[string]bool{}
	for _, target := range targets {
		readable[target.Application] = readable[target.Application] || mayRead(query, r, target)
	}
	return func(application string) bool {
		if found, reconciled := readable[application]; reconciled {
			return found
		}
		return query.Principal.MayRead(r.Address(), access.All, application)
	}
}

// walk follows a posted snapshot through the environments, parents first.
type walk struct {
	posted     store.Snapshot
	reconciled bool // since it was posted
	steps      map[string]api.StepState
	there      map[string]bool // environments that have it now
}

// step returns the step in one target. A target that refers to no image of the snapshot has
// none.
func (w walk) step(target store.Target, past past) (api.Step, bool) {
	if !slices.ContainsFunc(target.Current, func(v store.EventVersion) bool { return w.posted.Images[v.Component] != "" }) {
		return api.Step{}, false
	}
	step := api.Step{Environment: target.Environment, Since: target.Since, Reason: reasonOf(target)}
	landed, was := w.landing(past)
	wanted := matchOf(w.posted.Images, target.Wanted) == matchAll
	if was {
		step.Since, step.Commit = landed.At, landed.Commit
		step.PullRequest = view.PullRequestOf(landed.Number, landed.URL, time.Time{})
	}
	switch {
	case matchOf(w.posted.Images, target.Current) == matchAll:
		step.State, step.Reason = landedAs(target)
		w.there[target.Environment] = step.State != api.StepFailed
	case was: // and something else is there now
		step.State = api.StepLanded
		step.Reason = &view.Reason{Message: "it was there; another snapshot is there now"}
		if promotion.State(target.State) == promotion.Reverted && wanted {
			step.State, step.Reason = api.StepReverted, reasonOf(target)
		}
	case !w.reconciled:
		step.State, step.Since = api.StepWaiting, w.posted.PostedAt
		step.Reason = &view.Reason{Message: "posted; not reconciled yet"}
	case wanted || target.Posted == w.posted.Name:
		step.State, step.Until = stateOf(target), target.Until
		if step.State == api.StepProposed {
			step.PullRequest = view.PullRequestOf(target.Number, target.URL, time.Time{})
		}
		if state, reason := w.behind(target); step.State == api.StepWaiting && state == api.StepFailed {
			step.State, step.Reason = state, reason
		}
	default:
		step.State, step.Reason = w.behind(target)
	}
	w.steps[target.Environment] = step.State
	return step, true
}

// landedAs returns the state of a step whose target has the snapshot.
func landedAs(target store.Target) (api.StepState, *view.Reason) {
	reported := target.Detail.Health
	switch {
	case reported == nil:
		return api.StepLanded, nil
	case reported.Failure != "":
		return api.StepFailed, &view.Reason{Rule: string(promotion.RuleFailed), Message: reported.Failure}
	case !reported.HealthySince.IsZero():
		return api.StepHealthy, nil
	default:
		return api.StepLanded, &view.Reason{
			Rule: string(promotion.RuleHealth), Message: "not healthy yet: " + cmp.Or(reported.Status, "not reported"),
		}
	}
}

// landing returns the event by which the snapshot landed in a target: one of its images did,
// and no other version of its components.
func (w walk) landing(past past) (store.Event, bool) {
	i := slices.IndexFunc(past, func(e store.Event) bool {
		return matchOf(w.posted.Images, e.Versions) == matchAll && e.At.After(w.posted.PostedAt.Add(-time.Second))
	})
	if i < 0 {
		return store.Event{}, false
	}
	return past[i], true
}

// stateOf returns the state of a step whose target wants the snapshot.
func stateOf(target store.Target) api.StepState {
	switch promotion.State(target.State) {
	case promotion.Proposed, promotion.Stuck:
		return api.StepProposed
	case promotion.Rejected:
		return api.StepRejected
	case promotion.Reverted:
		return api.StepReverted
	case promotion.Refused:
		return api.StepRefused
	}
	return api.StepWaiting
}

// behind returns the state of a step whose target does not want the snapshot: it waits while
// it may still come from a parent. Otherwise another one took over.
func (w walk) behind(target store.Target) (api.StepState, *view.Reason) {
	for _, parent := range target.After {
		if w.there[parent] {
			return api.StepWaiting, reasonOf(target)
		}
		switch state := w.steps[parent]; state {
		case api.StepRejected, api.StepReverted, api.StepFailed:
			return state, &view.Reason{Message: fmt.Sprintf("%s in %s", state, parent)}
		case api.StepWaiting, api.StepProposed, api.StepRefused:
			return api.StepWaiting, &view.Reason{Message: "waits for " + strings.Join(target.After, ", ")}
		}
	}
	return api.StepSuperseded, reasonOf(target)
}

// summary returns the state of a run, and its result if it is completed.
func summary(steps []api.Step) (api.RunState, string) {
	count := map[api.StepState]int{}
	unhealthy := 0 // landed, and not healthy yet
	for _, step := range steps {
		count[step.State]++
		if step.State == api.StepLanded && step.Reason != nil && step.Reason.Rule == string(promotion.RuleHealth) {
			unhealthy++
		}
	}
	switch open := count[api.StepWaiting] + count[api.StepProposed] + count[api.StepRefused] + unhealthy; {
	case len(steps) == 0 || count[api.StepWaiting] == len(steps):
		return api.RunWaiting, ""
	case open > 0:
		return api.RunActive, ""
	case count[api.StepFailed] > 0:
		return api.RunCompleted, api.ResultFailed
	case count[api.StepRejected]+count[api.StepReverted] > 0:
		return api.RunCompleted, api.ResultRejected
	case count[api.StepSuperseded] > 0:
		return api.RunCompleted, api.ResultSuperseded
	}
	return api.RunCompleted, api.ResultSucceeded
}
