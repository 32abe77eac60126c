package history

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"promoter/internal/image"
	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/pullrequest"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/repo"
	"promoter/internal/state"
	"promoter/internal/store"
	"promoter/internal/verb"
)

// eventWriter makes the events of one repository.
type eventWriter struct {
	key, name string
	now       time.Time
}

func (w eventWriter) event(target promotion.Target, action string, at time.Time) store.Event {
	return store.Event{
		Repository: w.key, Name: w.name, Environment: target.Environment, Application: target.Application, Action: action, At: at,
	}
}

// actions are what promoter did, one event for each application.
func (w eventWriter) actions(effects []outcome.Effect, trigger store.Trigger) []store.Event {
	var all []store.Event
	for _, effect := range effects {
		if effect.Action == outcome.ActionNone || effect.Action == outcome.ActionUpdated {
			continue // no versions changed
		}
		for _, e := range w.proposal(effect, string(effect.Action), w.now, effect.Action == outcome.ActionClosed) {
			e.Commit = effect.Commit
			e.Number = effect.Number
			e.URL = effect.URL
			e.Trigger = trigger.DeliveryRef
			e.Since = trigger.At
			e.Rule, e.Message = string(effect.Reason.Rule), effect.Reason.Message
			all = append(all, e)
		}
	}
	return all
}

// incidents are what happened in the repository and was handled. They are found once.
func (w eventWriter) incidents(errors []repo.PartialError) []store.Event {
	var all []store.Event
	for _, one := range errors {
		if one.Incident {
			e := w.event(promotion.Target{}, store.EventIncident, w.now)
			e.Message = one.What + ": " + one.Err.Error()
			all = append(all, e)
		}
	}
	return all
}

// observed are what every reconciliation observes again: open pull requests, landings,
// and user decisions.
func (w eventWriter) observed(report outcome.Report, landed []landing.Landed) []store.Event {
	var all []store.Event
	for _, effect := range report.Effects {
		if open := effect.Open; open != nil && open.Number > 0 && open.Foreign == "" {
			for _, e := range w.proposal(effect, store.EventOpened, open.Opened, true) {
				e.Number = open.Number
				e.URL = open.URL
				e.Commit = open.Commit
				all = append(all, e)
			}
		}
	}
	all = append(all, w.merged(report, landed)...)
	all = append(all, w.landed(landed)...)
	all = append(all, w.outcomes(report)...)
	for _, decisions := range report.UserDecisions {
		all = append(all, w.userDecisions(decisions)...)
	}
	return deduplicate(all)
}

func deduplicate(all []store.Event) []store.Event {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(e store.Event) bool {
		id := e.Identity()
		duplicate := seen[id]
		seen[id] = true
		return duplicate
	})
}

// proposal is one event for each application of a proposal. With fromOpen, the snapshots
// are those of its open pull request; those of the decisions may be newer.
func (w eventWriter) proposal(effect outcome.Effect, action string, at time.Time, fromOpen bool) []store.Event {
	proposal := effect.Proposal
	opened := func(application string) promotion.Snapshot {
		if !fromOpen || proposal.Open == nil {
			return nil
		}
		return proposal.Open.Snapshots[application]
	}
	var all []store.Event
	for i, decision := range proposal.Decisions {
		e, snapshot := w.event(decision.Target, action, at), decision.Snapshot
		if i < len(effect.Promotions) {
			e.Promotion = effect.Promotions[i]
		}
		moves := decision.Moves
		if open := opened(decision.Application); open != nil && open.ID() != snapshot.ID() {
			e.Promotion = ""
			snapshot = open
			moves = pullrequest.MovesTo(open, decision)
		}
		if !fromOpen {
			e.Attribution = attributionOf(promotion.AttributionOf(decision), nil)
		}
		e = withSnapshot(e, snapshot, moves)
		addPullRequests(e.Versions, effect.Changes, moves)
		all = append(all, e)
	}
	if target, ours := promotion.ParseHead(proposal.Head); len(all) == 0 && ours {
		all = append(all, w.event(target, action, at))
	}
	return all
}

// attributionOf returns an attribution as the store keeps it.
func attributionOf(a promotion.Attribution, unproven []string) store.Attribution {
	return store.Attribution{
		RequestedBy: a.RequestedBy, Reason: a.Reason, Bypassed: a.Bypassed, ApprovedBy: a.ApprovedBy, Unproven: unproven,
	}
}

// withSnapshot adds the versions that changed. Without moves, it is unknown which of the
// snapshot did.
func withSnapshot(e store.Event, snapshot promotion.Snapshot, moves []promotion.Move) store.Event {
	e.Snapshot = snapshot.ID()
	for _, component := range snapshot.Components() {
		move, moved := promotion.MoveOf(moves, component)
		if len(moves) > 0 && !moved {
			continue
		}
		version := versionOf(component, snapshot[component].Repository, snapshot[component].Version)
		version.FromTag, version.FromDigest = move.From.Tag, move.From.Digest
		e.Versions = append(e.Versions, version)
	}
	return e
}

// merged are the landings for which the forge returned a pull request. What they changed
// is in the history of the branch, or differs from the landing before.
func (w eventWriter) merged(report outcome.Report, landed []landing.Landed) []store.Event {
	var all []store.Event
	for target, landings := range report.Landings {
		for i, l := range landings {
			if l.Number == 0 || l.At.IsZero() {
				continue
			}
			var moves []promotion.Move
			if i+1 < len(landings) {
				moves = promotion.ChangesOf(landings[i+1].Snapshot, l.Snapshot)
			}
			attribution := store.Attribution{}
			if k := slices.IndexFunc(landed, func(x landing.Landed) bool { return x.Target == target && x.Commit == l.Commit }); k >= 0 {
				moves, attribution = landed[k].Moves, attributionOf(landed[k].Attribution, landed[k].Unproven)
			}
			e := withSnapshot(w.event(target, store.EventLanded, w.notAfterNow(l.At)), l.Snapshot, moves)
			e.Commit = l.Commit
			e.Number = l.Number
			e.Attribution = attribution
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b store.Event) int {
		return cmp.Or(cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Application, b.Application), a.At.Compare(b.At))
	})
	return all
}

// landed are the landings that the trailers of commits show.
func (w eventWriter) landed(landed []landing.Landed) []store.Event {
	all := make([]store.Event, 0, len(landed))
	for _, l := range landed {
		e := withSnapshot(w.event(l.Target, store.EventLanded, w.notAfterNow(l.At)), l.Snapshot, l.Moves)
		e.Commit = l.Commit
		e.Promotion = l.Promotion
		e.User = l.By
		e.Attribution = attributionOf(l.Attribution, l.Unproven)
		all = append(all, e)
	}
	return all
}

// notAfterNow corrects the time of a commit, which comes from the clock of its author.
func (w eventWriter) notAfterNow(at time.Time) time.Time {
	if at.After(w.now) {
		return w.now
	}
	return at
}

// userDecisions are the decisions that are in effect.
func (w eventWriter) userDecisions(decisions state.State) []store.Event {
	var all []store.Event
	for _, target := range decisions.Targets() {
		record := decisions.At(target)
		add := func(v verb.Verb, act state.Act, more func(*store.Event)) {
			e := w.event(promotion.Target(target), string(v), act.At)
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
			add(verb.Resume, record.Resumed.Act, nil)
		}
		if record.Forgotten != nil {
			add(verb.Resume, *record.Forgotten, nil)
		}
		for _, u := range record.Unrejections {
			add(verb.Unreject, u.Act, func(e *store.Event) { e.Versions = parseVersions(u.Images) })
		}
		if request := record.Request; request != nil {
			add(verb.Promote, request.Act, func(e *store.Event) {
				e.Snapshot, e.Versions = request.Snapshot, parseVersions(request.For)
			})
		}
		if ended := record.EndedRequest; ended != nil {
			all = append(all, w.ended(promotion.Target(target), *ended))
		}
		if rollback := record.Rollback; rollback != nil {
			add(verb.Rollback, rollback.Act, func(e *store.Event) { e.Versions = parseVersions(rollback.Images) })
		}
		for _, rejection := range record.Rejections {
			add(verb.Reject, rejection.Act, func(e *store.Event) {
				e.Versions, e.Number = parseVersions(rejection.Images), rejection.Number
			})
		}
	}
	return all
}

// ended is a request whose versions can no longer come.
func (w eventWriter) ended(target promotion.Target, request state.EndedRequest) store.Event {
	e := w.event(target, store.EventEnded, request.Ended)
	e.Versions = parseVersions(request.For)
	e.Attribution = store.Attribution{RequestedBy: request.By.Login, Reason: request.Reason}
	e.Rule, e.Message = string(promotion.RuleRequestEnded), request.Why
	return e
}

// parseVersions parses the versions of a decision, repository:tag@digest by component, in
// which parts may be missing. Text that is not an image is shown as a tag.
func parseVersions(images map[string]string) []store.EventVersion {
	var all []store.EventVersion
	for _, component := range slices.Sorted(maps.Keys(images)) {
		version := store.EventVersion{Component: component}
		if parsed, err := image.Parse(images[component]); err == nil {
			version.Repository = parsed.Repository.String()
			version.Tag = parsed.Tag
			version.Digest = parsed.Digest
		} else {
			version.Tag = images[component]
		}
		all = append(all, version)
	}
	return all
}
