package app

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/verb"

	"promoter/internal/engine"
	"promoter/internal/image"
	"promoter/internal/pullrequest"
	"promoter/internal/state"
	"promoter/internal/store"
)

// book writes events about one repository.
type book struct {
	key, name string
	now       time.Time
}

// past is a time that is not ahead: a commit says what its author's clock said.
func (b book) past(at time.Time) time.Time {
	if at.After(b.now) {
		return b.now
	}
	return at
}

func (b book) event(target promotion.Target, act string, at time.Time) store.Event {
	return store.Event{Repository: b.key, Name: b.name, Environment: target.Environment, Application: target.Application, Action: act, At: at}
}

// done are the acts of a look, one event for each application.
func (b book) done(report engine.Report, cause store.DeliveryRef) []store.Event {
	var all []store.Event
	for _, done := range report.Effects {
		if done.Action == engine.ActionNone {
			continue
		}
		for _, e := range b.ofProposal(done.Proposal, done.Promotions, string(done.Action), b.now, done.Action == engine.ActionClosed) {
			e.Commit, e.Number, e.URL, e.Trigger = done.Commit, done.Number, done.URL, cause
			e.Rule, e.Message = string(done.Reason.Rule), done.Reason.Message
			all = append(all, e)
		}
	}
	return all
}

// ofProposal is one event for each application of a proposal. Of an open pull request
// its own snapshots count; those of the decisions may be newer.
func (b book) ofProposal(p pullrequest.Proposal, promotions []string, act string, at time.Time, open bool) []store.Event {
	var all []store.Event
	for i, decision := range p.Decisions {
		e, snapshot := b.event(decision.Target, act, at), decision.Snapshot
		if i < len(promotions) {
			e.Promotion = promotions[i]
		}
		if open && p.Open != nil && p.Open.Snapshots[decision.Application] != nil && p.Open.Snapshots[decision.Application].ID() != snapshot.ID() {
			e.Promotion, snapshot = "", p.Open.Snapshots[decision.Application]
		}
		all = append(all, withSnapshot(e, snapshot))
	}
	if target, ours := promotion.ParseHead(p.Head); len(all) == 0 && ours {
		all = append(all, b.event(target, act, at))
	}
	return all
}

func withSnapshot(e store.Event, snapshot promotion.Snapshot) store.Event {
	e.Snapshot = snapshot.ID()
	for _, component := range snapshot.Components() {
		pinned := snapshot[component]
		e.Versions = append(e.Versions, store.EventVersion{
			Component: component, Repository: pinned.Repository.String(), Tag: pinned.Version.Tag, Digest: pinned.Version.Digest,
		})
	}
	return e
}

// standing is what every look finds again, and a lost database gets back: open pull
// requests, landings, and what people decided.
func (b book) standing(report engine.Report, landed []engine.Landed) []store.Event {
	var all []store.Event
	for _, done := range report.Effects {
		if open := done.Open; open != nil && open.Number > 0 && open.Foreign == "" {
			for _, e := range b.ofProposal(done.Proposal, done.Promotions, store.EventOpened, open.Opened, true) {
				e.Number, e.URL, e.Commit = open.Number, open.URL, open.Commit
				all = append(all, e)
			}
		}
	}
	all = append(all, b.merged(report)...)
	all = append(all, b.landed(landed)...)
	for _, read := range report.UserDecisions {
		all = append(all, b.decided(read)...)
	}
	return onlyOnce(all)
}

func onlyOnce(all []store.Event) []store.Event {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(e store.Event) bool {
		id := e.Identity()
		again := seen[id]
		seen[id] = true
		return again
	})
}

// merged are landings of which a forge told the pull request.
func (b book) merged(report engine.Report) []store.Event {
	var all []store.Event
	for target, landings := range report.Landings {
		for _, l := range landings {
			if l.Number == 0 || l.At.IsZero() {
				continue
			}
			e := withSnapshot(b.event(target, store.EventLanded, b.past(l.At)), l.Snapshot)
			e.Commit, e.Number = l.Commit, l.Number
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b store.Event) int {
		return cmp.Or(cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Application, b.Application), a.At.Compare(b.At))
	})
	return all
}

func (b book) landed(landed []engine.Landed) []store.Event {
	all := make([]store.Event, 0, len(landed))
	for _, l := range landed {
		e := withSnapshot(b.event(l.Target, store.EventLanded, b.past(l.At)), l.Snapshot)
		e.Commit, e.Promotion, e.User = l.Commit, l.Promotion, l.By
		all = append(all, e)
	}
	return all
}

// versionsOf reads versions as decisions have them, repository:tag@digest by component,
// in which parts may be missing.
func versionsOf(images map[string]string) []store.EventVersion {
	var all []store.EventVersion
	for _, component := range slices.Sorted(maps.Keys(images)) {
		version := store.EventVersion{Component: component}
		if parsed, err := image.Parse(strings.TrimSuffix(images[component], "@")); err == nil {
			version.Repository, version.Tag, version.Digest = parsed.Repository.String(), parsed.Tag, parsed.Digest
		} else {
			version.Tag = images[component]
		}
		all = append(all, version)
	}
	return all
}

// decided is what people decided, as it stands.
func (b book) decided(read state.State) []store.Event {
	var all []store.Event
	for _, target := range read.Targets() {
		record := read.At(target)
		add := func(action verb.Verb, act state.Act, more func(*store.Event)) {
			e := b.event(promotion.Target(target), string(action), act.At)
			e.User, e.Message = act.By.Login, act.Reason
			if more != nil {
				more(&e)
			}
			all = append(all, e)
		}
		if record.Hold != nil {
			add(verb.Hold, *record.Hold, nil)
		}
		if record.Freeze != nil {
			add(verb.Freeze, record.Freeze.Act, nil)
		}
		if record.Resumed != nil {
			add(verb.Resume, *record.Resumed, nil)
		}
		if request := record.Request; request != nil {
			add(verb.Promote, request.Act, func(e *store.Event) { e.Snapshot = request.Snapshot })
		}
		if back := record.Rollback; back != nil {
			add(verb.Rollback, back.Act, func(e *store.Event) { e.Versions = versionsOf(back.Images) })
		}
		for _, rejection := range record.Rejections {
			add(verb.Reject, rejection.Act, func(e *store.Event) { e.Versions, e.Number = versionsOf(rejection.Images), rejection.Number })
		}
	}
	return all
}
