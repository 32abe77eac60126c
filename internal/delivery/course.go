package delivery

import (
	"cmp"
	"slices"
	"time"

	"promoter/internal/promotion"
	"promoter/internal/store"
	"promoter/internal/verb"
)

// course is what happened to one target.
type course struct {
	deployments []*deployment
	rollbacks   []time.Time // when what was there before landed again
	gates       []wait
	pulls       []pull
	reactions   []reaction
	monitored   bool
}

// deployment is the first landing of a snapshot in a target.
type deployment struct {
	snapshot string
	order    int // of the deployments of the target
	landed   time.Time
	healthy  time.Time // first; zero: not reported
	began    time.Time // its oldest source commit, or its oldest image; zero: not known
	failed   time.Time // first; zero: it did not
	broken   time.Time // since when; set if it failed
	restored time.Time // zero: not yet
	reverted bool      // it failed because it was reverted or rolled back, so that its own health restores nothing
}

// wait is how long a promotion waited for a condition or gate.
type wait struct {
	name         string
	began, ended time.Time // ended is zero: not yet, or it never did
}

// pull is a pull request for one target.
type pull struct {
	number         int
	opened, closed time.Time // closed is zero: it is open
	lost           bool      // when it was closed is not known
	landed         bool      // it was closed by a landing
}

// reaction is a pull request that was opened, or a push, because of a webhook.
type reaction struct {
	number   int // of the pull request; 0: a push
	at       time.Time
	received time.Time // zero: no webhook led to it
}

// coursesOf follows all targets.
func coursesOf(p store.Progress) map[store.TargetKey]*course {
	happened, times := map[store.TargetKey][]store.Milestone{}, map[store.TargetKey][]store.PromotionTime{}
	for _, m := range p.Milestones {
		happened[m.TargetKey] = append(happened[m.TargetKey], m)
	}
	for _, t := range p.Times {
		times[t.TargetKey] = append(times[t.TargetKey], t)
	}
	courses := make(map[store.TargetKey]*course, len(happened))
	for key, milestones := range happened {
		now, known := p.Targets[key]
		slices.SortFunc(milestones, inTime)
		courses[key] = follow(milestones, times[key], now, known)
	}
	for key, waits := range times { // nothing happened yet, but something waits
		if courses[key] == nil {
			courses[key] = follow(nil, waits, p.Targets[key], true)
		}
	}
	return courses
}

// inTime orders milestones. Of those at the same time, what follows from another is later.
func inTime(a, b store.Milestone) int {
	if order := a.At.Compare(b.At); order != 0 {
		return order
	}
	return cmp.Or(cmp.Compare(rank(a.Action), rank(b.Action)), cmp.Compare(a.Action, b.Action),
		cmp.Compare(a.Snapshot, b.Snapshot), cmp.Compare(a.Number, b.Number))
}

func rank(action string) int {
	switch action {
	case store.EventOpened, store.EventRefreshed:
		return 0
	case store.EventPushed, store.EventMerged, store.EventLanded, store.EventReverted: // a revert lands other versions
		return 1
	case store.EventHealthy, store.EventFailed:
		return 2
	}
	return 3
}

// follower follows one target in the order of time.
type follower struct {
	course
	first   map[string]*deployment // by snapshot
	current *deployment            // nil: not known, or nothing was deployed yet
	broken  []*deployment          // that are not restored
	rules   map[string]string      // of the last proposal of each snapshot
	open    *pull
}

// follow returns the course of one target. What is known about it now is not known if it is gone.
func follow(milestones []store.Milestone, times []store.PromotionTime, now store.TargetNow, known bool) *course {
	f := follower{first: map[string]*deployment{}, rules: map[string]string{}}
	f.monitored = now.Monitored || !known && slices.ContainsFunc(milestones, func(m store.Milestone) bool {
		return m.Action == store.EventHealthy || m.Action == store.EventFailed
	})
	for _, m := range milestones {
		f.step(m)
	}
	if f.open != nil {
		f.open.lost = !known || now.Number != f.open.number
		f.pulls = append(f.pulls, *f.open)
	}
	f.addTimes(times)
	return &f.course
}

func (f *follower) step(m store.Milestone) {
	switch m.Action {
	case store.EventOpened:
		f.close(m.At)
		f.open = &pull{number: m.Number, opened: m.At}
		f.reactions = append(f.reactions, reaction{number: m.Number, at: m.At, received: m.Since})
		f.rules[m.Snapshot] = m.Rule
	case store.EventRefreshed:
		f.rules[m.Snapshot] = m.Rule
	case store.EventClosed, string(verb.Reject):
		if f.open != nil && m.Number == f.open.number {
			f.close(m.At)
		}
	case store.EventPushed, store.EventMerged, store.EventLanded:
		if m.Action == store.EventPushed {
			f.reactions = append(f.reactions, reaction{at: m.At, received: m.Since})
		}
		if f.open != nil && (m.Number == 0 || m.Number == f.open.number) {
			f.open.landed = true
			f.close(m.At)
		}
		f.land(m)
	case store.EventHealthy:
		f.becomesHealthy(m)
	case store.EventFailed:
		if d := f.first[m.Snapshot]; d != nil {
			since := m.Since
			if since.IsZero() {
				since = m.At
			}
			f.fail(d, m.At, since)
		}
	case store.EventReverted:
		f.goBack(f.first[m.Snapshot], m.At)
		f.restore(m.At)
	case string(verb.Rollback):
		f.goBack(f.current, m.At)
	}
}

// close ends the open pull request.
func (f *follower) close(at time.Time) {
	if f.open != nil {
		f.open.closed = at
		f.pulls = append(f.pulls, *f.open)
		f.open = nil
	}
}

// land counts a landing: the first one of a snapshot is a deployment, unless it goes back or only
// writes the same versions in another form.
func (f *follower) land(m store.Milestone) {
	rule := func(wanted promotion.Rule) bool {
		return m.Rule == string(wanted) || f.rules[m.Snapshot] == string(wanted)
	}
	before, known := f.first[m.Snapshot]
	switch {
	case f.current != nil && f.current.snapshot == m.Snapshot:
		return
	case rule(promotion.RuleForm):
		f.first[m.Snapshot] = f.current
		return
	case rule(promotion.RuleRollback), rule(promotion.RuleOnFailure),
		known && before != nil && f.current != nil && before.order < f.current.order:
		f.rollbacks = append(f.rollbacks, m.At)
		f.goBack(f.current, m.At)
		f.restore(m.At)
		f.current = before
		return
	}
	f.restore(m.At)
	if before != nil { // it lands again
		f.current = before
		return
	}
	f.current = &deployment{snapshot: m.Snapshot, order: len(f.deployments), landed: m.At}
	f.first[m.Snapshot] = f.current
	f.deployments = append(f.deployments, f.current)
}

// goBack counts that a user or promoter itself went back behind a deployment.
func (f *follower) goBack(d *deployment, at time.Time) {
	if d == nil {
		return
	}
	d.reverted = true
	f.fail(d, at, d.landed)
}

// fail counts the first failure of a deployment, and since when it was broken.
func (f *follower) fail(d *deployment, at, since time.Time) {
	if d.failed.IsZero() {
		d.failed, d.broken = at, since
		f.broken = append(f.broken, d)
	}
}

// restore counts that other versions are there. Where health is monitored, they also have to be
// healthy.
func (f *follower) restore(at time.Time) {
	if f.monitored {
		return
	}
	for _, d := range f.broken {
		d.restored = at
	}
	f.broken = nil
}

// becomesHealthy counts that a snapshot is healthy, which restores a target unless that is the
// one that was reverted or rolled back.
func (f *follower) becomesHealthy(m store.Milestone) {
	healthy := f.first[m.Snapshot]
	if healthy != nil && healthy.healthy.IsZero() {
		healthy.healthy = m.At
	}
	f.broken = slices.DeleteFunc(f.broken, func(d *deployment) bool {
		if d == healthy && d.reverted || m.At.Before(d.broken) {
			return false
		}
		d.restored = m.At
		return true
	})
}

// addTimes adds when the changes of deployments were made, and what promotions waited for. Who
// merges a pull request ends what it waits for.
func (f *follower) addTimes(times []store.PromotionTime) {
	commits := map[[2]string]bool{} // snapshot and component
	for _, t := range times {
		if t.Kind == store.TimeOfCommit {
			commits[[2]string{t.Snapshot, t.Name}] = true
		}
	}
	for _, t := range times {
		d := f.first[t.Snapshot]
		if t.Kind == store.TimeOfGate {
			one := wait{name: t.Name, began: t.Began, ended: t.Ended}
			if d != nil && (one.ended.IsZero() || d.landed.Before(one.ended)) {
				one.ended = d.landed
			}
			if !one.ended.IsZero() && one.ended.Before(one.began) {
				one.ended = one.began
			}
			f.gates = append(f.gates, one)
			continue
		}
		replaced := t.Kind == store.TimeOfImage && commits[[2]string{t.Snapshot, t.Name}]
		if d != nil && !replaced && (d.began.IsZero() || t.Began.Before(d.began)) {
			d.began = t.Began
		}
	}
}

// leadTime returns how long a deployment took, and when it ended. It is not known where it is not
// healthy yet, and where the times of its changes are not known or are later.
func (c *course) leadTime(d *deployment) (took time.Duration, ended time.Time, known bool) {
	ended = d.landed
	if c.monitored {
		ended = d.healthy
	}
	if ended.Before(d.landed) && !ended.IsZero() {
		ended = d.landed // the clock of a source differs
	}
	if ended.IsZero() || d.began.IsZero() || ended.Before(d.began) {
		return 0, d.landed, false
	}
	return ended.Sub(d.began), ended, true
}
