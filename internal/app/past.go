package app

import (
	"context"
	"strconv"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/server"
	"promoter/internal/store"
)

// History implements server.Desk.
func (s *service) History(ctx context.Context, past server.HistoryQuery) (server.History, error) {
	history := server.History{Schema: server.Schema, At: s.now().UTC(), Events: []server.Event{}}
	before, err := readMark(past.After)
	if err != nil {
		return history, err
	}
	found, err := s.store.History(ctx, store.HistoryFilter{
		Repository: past.Repository, Environment: past.Environment, Application: past.Application, Component: past.Component,
		Since: past.Since, Before: before, Limit: past.Limit + 1,
	})
	if err != nil {
		return history, err
	}
	if len(found) > past.Limit {
		found = found[:past.Limit]
		last := found[len(found)-1]
		history.Next = strconv.FormatInt(last.At.UnixMicro(), 10) + "-" + last.ID
	}
	for _, e := range found {
		history.Events = append(history.Events, shownEvent(e))
	}
	return history, nil
}

// readMark reads where a page ended.
func readMark(text string) (store.Cursor, error) {
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

func shownEvent(e store.Event) server.Event {
	shown := server.Event{
		ID: e.Identity(), At: e.At.UTC(), Repository: e.Name, Key: e.Repository, Environment: e.Environment, Application: e.Application,
		Action: e.Action, Promotion: e.Promotion, Snapshot: e.Snapshot, Versions: []server.Version{}, Commit: e.Commit, By: e.User,
	}
	if e.ID != "" {
		shown.ID = e.ID
	}
	for _, version := range e.Versions {
		shown.Versions = append(shown.Versions, server.Version(version))
	}
	if e.Number > 0 {
		shown.PullRequest = &server.PullRequest{Number: e.Number, URL: e.URL}
	}
	if e.Message != "" || e.Rule != "" {
		shown.Reason = &server.Reason{Rule: e.Rule, Message: e.Message}
	}
	if e.Trigger != (store.DeliveryRef{}) {
		shown.Delivery = &server.TriggeringDelivery{Receiver: e.Trigger.Receiver, ID: e.Trigger.Delivery}
	}
	return shown
}
