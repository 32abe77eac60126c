// Package notifications turns what reconciliations do and observe into messages, and sends them.
//
// The messages are an outbox in the database. Add writes them in the transaction that records a
// reconciliation, so that none is lost and each event is in a message once. The queue then sends
// each message: with a lease, so that one replica does, and with retries that delay no
// reconciliation. Direct sends without a database, for a single run.
package notifications

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"promoter/internal/config"
	"promoter/internal/fault"
	"promoter/internal/notify"
	"promoter/internal/promotion"
	"promoter/internal/store"
)

// Source is the repository that messages are about.
type Source struct {
	Repository store.Repository
	Config     *config.Config
	// MayUse reports whether the repository may use a destination of the server file.
	MayUse func(destination string) bool
	URL    string // of the service, for links; empty: not known
}

// Unusable returns the error of a config that names destinations which the repository may not use.
// It does not reveal whether they exist: they may be those of another tenant.
func (s Source) Unusable() error {
	for _, name := range s.Config.NotifyDestinations() {
		if !s.MayUse(name) {
			return fault.New(fault.Invalid, "notify: there is no destination %q that this repository may use", name)
		}
	}
	return nil
}

// name returns HOST/OWNER/NAME.
func (s Source) name() string {
	return strings.TrimPrefix(s.Repository.Host+"/"+s.Repository.Name, "/")
}

// entry is one event about one promotion.
type entry struct {
	promotion.Target
	snapshot string
	versions []notify.Change
	pull     notify.PullRequest
	event    notify.Event // its ID is unique in the promotion
}

// draft is a message with events that are to be added to it.
type draft struct {
	destination string
	message     notify.Message
}

// drafts returns the messages about some events, for the destinations that are notified of them.
func (s Source) drafts(entries []entry) []draft {
	var all []draft
	index := map[string]int{}
	for _, e := range entries {
		if e.snapshot == "" {
			continue
		}
		destinations := s.Config.Settings(e.Environment, e.Application).Destinations()
		for _, name := range slices.Sorted(maps.Keys(destinations)) {
			if !slices.Contains(destinations[name], string(e.event.State)) || !s.MayUse(name) {
				continue
			}
			id := hash(s.Repository.Key, e.Environment, e.Application, e.snapshot, name)
			i, known := index[id]
			if !known {
				i = len(all)
				index[id] = i
				all = append(all, draft{name, notify.Message{
					ID: id, Repository: s.name(), Environment: e.Environment, Application: e.Application,
					Snapshot: e.snapshot, Page: s.page(e.Application),
				}})
			}
			event := e.event
			event.ID = hash(id, event.ID)
			all[i].message = merge(all[i].message, notify.Message{Versions: e.versions, PullRequest: e.pull, Events: []notify.Event{event}})
		}
	}
	return all
}

// page returns the URL of an application on the dashboard.
func (s Source) page(application string) string {
	if s.URL == "" {
		return ""
	}
	return s.URL + "/applications/" + url.PathEscape(application) + "?" + url.Values{"repository": {s.name()}}.Encode()
}

// merge adds to a message what it does not have.
func merge(m, more notify.Message) notify.Message {
	if len(more.Versions) > 0 && len(m.Versions) == 0 {
		m.Versions = more.Versions
	}
	if more.PullRequest.URL != "" {
		m.PullRequest = more.PullRequest
	}
	m.Page = cmp.Or(more.Page, m.Page)
	m.Events = slices.Clone(m.Events)
	for _, event := range more.Events {
		if !slices.ContainsFunc(m.Events, func(e notify.Event) bool { return e.ID == event.ID }) {
			m.Events = append(m.Events, event)
		}
	}
	return m
}

// hash identifies a message or an event.
func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:12])
}

// states are the states that events of the history report.
var states = map[string]notify.State{
	store.EventOpened: notify.Proposed, store.EventRefreshed: notify.Proposed,
	store.EventPushed: notify.Landed, store.EventMerged: notify.Landed, store.EventLanded: notify.Landed,
	store.EventHealthy: notify.Healthy, store.EventFailed: notify.Failed, store.EventReverted: notify.Reverted,
}

// fromHistory returns the entries of events since a time.
func fromHistory(events []store.Event, since time.Time) []entry {
	var all []entry
	for _, e := range events {
		state, reported := states[e.Action]
		if !reported || e.At.Before(since) {
			continue
		}
		id := e.Identity()
		if state == notify.Proposed { // a new base of the pull request is no news
			id = string(notify.Proposed)
		}
		one := entry{
			Target: promotion.Target{Environment: e.Environment, Application: e.Application}, snapshot: e.Snapshot,
			event: notify.Event{ID: id, State: state, At: e.At, Rule: e.Rule, Reason: e.Message, User: e.User, Commit: e.Commit},
		}
		if e.Number > 0 && e.URL != "" {
			one.pull = notify.PullRequest{Number: e.Number, URL: e.URL}
		}
		for _, v := range e.Versions {
			one.versions = append(one.versions, notify.Change{
				Component: v.Component, Repository: v.Repository, From: v.FromTag, FromDigest: v.FromDigest, To: v.Tag, ToDigest: v.Digest,
			})
		}
		all = append(all, one)
	}
	return all
}

// fromDecisions returns the entries of what is available and what waits. They are the same in each
// reconciliation while that is so.
func fromDecisions(decisions []promotion.Decision, now time.Time) []entry {
	var all []entry
	for _, d := range decisions {
		if len(d.Moves) == 0 || !d.State.IsUnderway() {
			continue
		}
		one := entry{Target: d.Target, snapshot: d.Snapshot.ID()}
		for _, m := range d.Moves {
			one.versions = append(one.versions, notify.Change{
				Component: m.Component, Repository: d.Snapshot[m.Component].Repository.String(),
				From: m.From.Tag, FromDigest: m.From.Digest, To: m.To.Tag, ToDigest: m.To.Digest,
			})
		}
		one.event = notify.Event{ID: string(notify.Version), State: notify.Version, At: now}
		all = append(all, one)
		if d.State == promotion.Waiting {
			one.event = notify.Event{
				ID: string(notify.Waiting) + "/" + string(d.Reason.Rule), State: notify.Waiting, At: now,
				Rule: string(d.Reason.Rule), Reason: d.Reason.Message,
			}
			all = append(all, one)
		}
		if d.Obstacle != nil { // once for each cause and head
			one.event = notify.Event{
				ID: string(notify.Stuck) + "/" + d.Obstacle.ID(), State: notify.Stuck, At: now,
				Rule: string(d.Reason.Rule), Reason: d.Reason.Message,
			}
			all = append(all, one)
		}
	}
	return all
}

// sorted sorts entries by what happens to a promotion first.
func sorted(entries []entry) []entry {
	order := notify.States()
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(slices.Index(order, a.event.State)-slices.Index(order, b.event.State), a.event.At.Compare(b.event.At))
	})
	return entries
}
