package history

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"promoter/internal/api"
	"promoter/internal/fault"
	"promoter/internal/landing"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/scm"
	"promoter/internal/store"
	"promoter/internal/view"
)

// Query returns a page of the stored history.
func Query(ctx context.Context, stored *store.Store, query api.HistoryQuery, now time.Time) (api.History, error) {
	page := api.History{Schema: api.Schema, At: now.UTC(), Events: []api.Event{}}
	before, err := parseCursor(query.After)
	if err != nil {
		return page, err
	}
	found, err := stored.History(ctx, store.HistoryFilter{
		Repository: query.Repository, Environment: query.Environment, Application: query.Application, Component: query.Component,
		Since: query.Since, Readable: query.Readable, Before: before, Limit: query.Limit + 1,
	})
	if err != nil {
		return page, err
	}
	if len(found) > query.Limit {
		found = found[:query.Limit]
		last := found[len(found)-1]
		page.Next = strconv.FormatInt(last.At.UnixMicro(), 10) + "-" + last.ID
	}
	for _, e := range found {
		page.Events = append(page.Events, eventOf(e))
	}
	return page, nil
}

// parseCursor parses the Next of a page.
func parseCursor(text string) (store.Cursor, error) {
	if text == "" {
		return store.Cursor{}, nil
	}
	micros, id, _ := strings.Cut(text, "-")
	at, err := strconv.ParseInt(micros, 10, 64)
	if err != nil || id == "" {
		return store.Cursor{}, fault.New(fault.Invalid, "after is no next of an answer before")
	}
	return store.Cursor{At: time.UnixMicro(at), ID: id}, nil
}

// Observed returns what the history of a repository contains that can be read without a
// database, from its report and its commits.
func Observed(info scm.Info, report outcome.Report, landed []landing.Landed, now time.Time) []store.Event {
	host := hostOf(info)
	events := eventWriter{key: string(info.Key), name: strings.TrimPrefix(host+"/"+info.Name, "/"), now: now}
	return events.observed(report, landed)
}

// Select returns the events that a query selects, newest first, as its only page, and how
// many the limit of the query omits.
func Select(events []store.Event, query api.HistoryQuery, now time.Time) (page api.History, omitted int) {
	page = api.History{Schema: api.Schema, At: now.UTC(), Events: []api.Event{}}
	events = slices.DeleteFunc(events, func(e store.Event) bool { return !selects(query, e) })
	slices.SortFunc(events, func(a, b store.Event) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Environment, b.Environment),
			cmp.Compare(a.Application, b.Application), cmp.Compare(b.Identity(), a.Identity()))
	})
	shown := min(len(events), query.Limit)
	for _, e := range events[:shown] {
		page.Events = append(page.Events, eventOf(e))
	}
	return page, len(events) - shown
}

// selects reports whether a query of the history of one repository selects an event.
func selects(query api.HistoryQuery, e store.Event) bool {
	is := func(wanted, has string) bool { return wanted == "" || wanted == has }
	component := query.Component == "" || slices.ContainsFunc(e.Versions, func(v store.EventVersion) bool {
		return v.Component == query.Component
	})
	return is(query.Environment, e.Environment) && is(query.Application, e.Application) && component && !e.At.Before(query.Since)
}

// eventOf returns an event as the API shows it.
func eventOf(e store.Event) api.Event {
	shown := api.Event{
		ID: cmp.Or(e.ID, e.Identity()), At: e.At.UTC(), Since: e.Since, Repository: e.Name, Key: e.Repository,
		Environment: e.Environment, Application: e.Application,
		Action: e.Action, Promotion: e.Promotion, Snapshot: e.Snapshot, Commit: e.Commit, By: e.User,
		Versions:    append([]api.Version{}, e.Versions...),
		RequestedBy: e.Attribution.RequestedBy, RequestReason: e.Attribution.Reason,
		PullRequest: view.PullRequestOf(e.Number, e.URL, time.Time{}), Reason: view.ReasonOf(e.Rule, e.Message, time.Time{}),
		Bypassed: e.Attribution.Bypassed, ApprovedBy: e.Attribution.ApprovedBy, Unproven: e.Attribution.Unproven,
	}
	if e.Trigger != (store.DeliveryRef{}) {
		shown.Delivery = &e.Trigger
	}
	return shown
}
