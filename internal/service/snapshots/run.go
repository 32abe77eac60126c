package snapshots

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/server"
	"promoter/internal/store"
)

// Run implements server.Snapshots.
func (a *API) Run(ctx context.Context, name string, query server.SnapshotQuery) (server.Run, error) {
	r, err := a.repository(ctx, query.Repository)
	if err != nil {
		return server.Run{}, err
	}
	posted, err := a.Store.Snapshot(ctx, r.Key, query.Application, name)
	if err != nil {
		return server.Run{}, err
	}
	content, err := decode(posted)
	if err != nil {
		return server.Run{}, err
	}
	targets, err := a.Store.Targets(ctx, r.Key, "", posted.Application)
	if err != nil {
		return server.Run{}, err
	}
	run := server.Run{
		Schema: server.Schema, At: a.Server.Now().UTC(), Repository: r.Host + "/" + r.Name, Key: r.Key, Application: posted.Application,
		Receiver: posted.Receiver, PostedAt: posted.PostedAt, Snapshot: content.Plain(), Steps: []server.Step{},
	}
	way := walk{posted: posted, reconciled: r.BeganAt.After(posted.PostedAt), steps: map[string]server.StepState{}, there: map[string]bool{}}
	for _, target := range targets {
		past, err := a.past(ctx, r.Key, target, maxPast)
		if err != nil {
			return server.Run{}, err
		}
		if step, part := way.step(target, past); part {
			run.Steps = append(run.Steps, step)
		}
	}
	run.State, run.Result = summary(run.Steps)
	return run, nil
}

// walk follows a posted snapshot through the environments, parents first.
type walk struct {
	posted     store.Snapshot
	reconciled bool // since it was posted
	steps      map[string]server.StepState
	there      map[string]bool // environments that have it now
}

// step returns the step in one target. A target that refers to no image of the snapshot has
// none.
func (w walk) step(target store.Target, past past) (server.Step, bool) {
	if !slices.ContainsFunc(target.Current, func(v store.EventVersion) bool { return w.posted.Images[v.Component] != "" }) {
		return server.Step{}, false
	}
	step := server.Step{Environment: target.Environment, Since: target.Since, Reason: reasonOf(target)}
	landed, was := w.landing(past)
	wanted := matchOf(w.posted.Images, target.Wanted) == matchAll
	switch {
	case matchOf(w.posted.Images, target.Current) == matchAll:
		step.State, step.Reason = server.StepLanded, nil
		w.there[target.Environment] = true
		if was {
			step.Since, step.Commit, step.PullRequest = landed.At, landed.Commit, pullRequest(landed.Number, landed.URL)
		}
	case was: // and something else is there now
		step.State, step.Since, step.Commit, step.PullRequest = server.StepLanded, landed.At, landed.Commit, pullRequest(landed.Number, landed.URL)
		step.Reason = &server.Reason{Message: "it was there; another snapshot is there now"}
		if promotion.State(target.State) == promotion.Reverted && wanted {
			step.State, step.Reason = server.StepReverted, reasonOf(target)
		}
	case !w.reconciled:
		step.State, step.Since, step.Reason = server.StepWaiting, w.posted.PostedAt, &server.Reason{Message: "posted; not reconciled yet"}
	case wanted || target.Posted == w.posted.Name:
		step.State, step.Until = stateOf(target), target.Until
		if step.State == server.StepProposed {
			step.PullRequest = pullRequestOf(target)
		}
	default:
		step.State, step.Reason = w.behind(target)
	}
	w.steps[target.Environment] = step.State
	return step, true
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

func pullRequest(number int, url string) *server.PullRequest {
	return pullRequestOf(store.Target{Number: number, URL: url})
}

// stateOf returns the state of a step whose target wants the snapshot.
func stateOf(target store.Target) server.StepState {
	switch promotion.State(target.State) {
	case promotion.Proposed:
		return server.StepProposed
	case promotion.Rejected:
		return server.StepRejected
	case promotion.Reverted:
		return server.StepReverted
	case promotion.Refused:
		return server.StepRefused
	}
	return server.StepWaiting
}

// behind returns the state of a step whose target does not want the snapshot: it waits while
// it may still come from a parent. Otherwise another one took over.
func (w walk) behind(target store.Target) (server.StepState, *server.Reason) {
	for _, parent := range target.After {
		if w.there[parent] {
			return server.StepWaiting, reasonOf(target)
		}
		switch state := w.steps[parent]; state {
		case server.StepRejected, server.StepReverted:
			return state, &server.Reason{Message: fmt.Sprintf("%s in %s", state, parent)}
		case server.StepWaiting, server.StepProposed, server.StepRefused:
			return server.StepWaiting, &server.Reason{Message: "waits for " + strings.Join(target.After, ", ")}
		}
	}
	return server.StepSuperseded, reasonOf(target)
}

// summary returns the state of a run, and its result if it is completed.
func summary(steps []server.Step) (server.RunState, string) {
	count := map[server.StepState]int{}
	for _, step := range steps {
		count[step.State]++
	}
	switch open := count[server.StepWaiting] + count[server.StepProposed] + count[server.StepRefused]; {
	case len(steps) == 0 || count[server.StepWaiting] == len(steps):
		return server.RunWaiting, ""
	case open > 0:
		return server.RunActive, ""
	case count[server.StepRejected]+count[server.StepReverted] > 0:
		return server.RunCompleted, server.ResultRejected
	case count[server.StepSuperseded] > 0:
		return server.RunCompleted, server.ResultSuperseded
	}
	return server.RunCompleted, server.ResultSucceeded
}
