package app

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"promoter/internal/connect"
	"promoter/internal/engine"
	"promoter/internal/onboarding"
	"promoter/internal/server"
	"promoter/internal/store"
	"promoter/internal/workspace"
)

// Recalled is what repositories themselves tell of the past.
type Recalled struct {
	History  server.History
	Failures []Result // repositories that could not be read
}

// Recall reads the past from the repositories, without a service: landings from the
// trailers on the environments' branches, and what people decided that still stands.
// What the question narrows is narrowed as the service does; it has one page.
func Recall(ctx context.Context, c *connect.Connections, past server.HistoryQuery, options RunOptions) (_ Recalled, err error) {
	recalled := Recalled{History: server.History{Schema: server.Schema, At: c.Server.Now().UTC(), Events: []server.Event{}}}
	var mutex sync.Mutex
	var events []store.Event
	results, err := forAll(ctx, c, readOnly(options), nil, func(ctx context.Context, _ *onboarding.Batch, w *workspace.Workspace, result *Result) (err error) {
		var landed []engine.Landed
		result.Report, landed, err = w.Reconciler.HistoryFromGit(ctx, past.Since)
		found := bookOf(w, c.Server.Now()).standing(result.Report, landed)
		mutex.Lock()
		defer mutex.Unlock()
		events = append(events, found...)
		return err
	})
	if err != nil {
		return recalled, err
	}
	for _, result := range results {
		if result.Err != nil || result.Report.Unusable != "" {
			recalled.Failures = append(recalled.Failures, result)
		}
	}
	events = slices.DeleteFunc(events, func(e store.Event) bool { return !wanted(e, past) })
	slices.SortFunc(events, func(a, b store.Event) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Identity(), a.Identity())) })
	for _, e := range events[:min(len(events), past.Limit)] {
		recalled.History.Events = append(recalled.History.Events, shownEvent(e))
	}
	return recalled, nil
}

// bookOf is the book of an open repository.
func bookOf(w *workspace.Workspace, now time.Time) book {
	info := w.Repository.SCM.Info()
	return book{key: string(info.Key), name: withHost(info), now: now}
}

// wanted says whether an event is among those that are asked for.
func wanted(e store.Event, past server.HistoryQuery) bool {
	is := func(asked, has string) bool { return asked == "" || asked == has }
	component := past.Component == "" || slices.ContainsFunc(e.Versions, func(v store.EventVersion) bool { return v.Component == past.Component })
	return is(past.Environment, e.Environment) && is(past.Application, e.Application) && component && !e.At.Before(past.Since)
}
