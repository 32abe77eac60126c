package modeltest

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"promoter/internal/fault"
	"promoter/internal/reconcile"
	"promoter/internal/reconcile/cache"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/reconcile/plan"
	"promoter/internal/statebranch"
)

// reconciler returns a process of promoter with which the story can interfere.
func reconciler(s *story, fresh bool) (*reconcile.Reconciler, func(), error) {
	s.t.Helper()
	reconciler, end, err := s.Reconciler(s.t, fresh)
	if err != nil {
		return nil, nil, err
	}
	reconciler.Clients.Remote, reconciler.Clients.Forge, reconciler.Clients.Now = remote{reconciler.Clients.Remote, s}, intercept(s, reconciler.Clients.Forge), s.Clock.Now
	reconciler.Users.Bypasses, s.sealed = bypasses{}, statebranch.Authenticates(reconciler.Clients.Seals)
	if s.verified {
		reconciler.Server.Verify = required
	}
	if reconciler.Clients.Evidence = s.evidence; s.blind {
		reconciler.Clients.Evidence = nil
	}
	return reconciler, end, nil
}

// reconcile reconciles once and logs the report.
func (s *story) reconcile() { _, _ = reconcileWith(s, false, 0) }

// reconcileWith reconciles with or without a mirror, and with a skewed clock.
func reconcileWith(s *story, fresh bool, skew time.Duration) (report outcome.Report, err error) {
	s.t.Helper()
	s.reconciliations++
	reconciler, end, err := reconciler(s, fresh)
	if err != nil {
		s.log("  no process: %v", err)
		return report, err
	}
	defer end()
	reconciler.Clients.Now = func() time.Time { return s.Clock.Now().Add(skew) }
	s.ran = append(s.ran, s.Clock.Now().Add(skew))
	incremental := s.reconciliations%2 != 0 && !fresh && skew == 0 && !s.cache.used
	if incremental { // one with another clock, or that runs inside it, is another process
		reconciler.Cache, s.cache.used = s.cache, true
		defer func() { s.cache.used = false }()
		compareWithFull(s)
	}
	report, err = reconciler.Reconcile(s.t.Context())
	if incremental {
		compareWithFull(s)
	}
	for _, done := range report.Effects {
		s.log("  %s %s (%v) %s", done.Head, done.Action, done.Err, done.Reason)
		if err == nil && !report.Again && done.Awaits() == outcome.AwaitsNothing {
			s.t.Errorf("%s %s: nothing is known that ends it: %s %s", done.Head, done.Step, done.Reason.Rule, done.Reason)
		}
		checkClosedAgain(s, done)
		for _, d := range done.Decisions { // what it was before it landed
			countRows(s, d)
		}
	}
	for _, d := range report.Decisions {
		s.log("  %s/%s %s: %s", d.Environment, d.Application, d.State, d.Reason)
		countRows(s, d)
		if d.Reason.Message == "" {
			s.t.Errorf("%s/%s is %s without a reason", d.Environment, d.Application, d.State)
		}
	}
	for _, partial := range report.Errors {
		s.log("  partial error: %s: %v", partial.What, partial.Err)
	}
	if report.Touched != nil {
		s.partial++
	}
	if report.Mismatch != "" && s.onEffect == nil && s.onRequest == nil { // nothing changed in between
		s.t.Errorf("decisions that were kept were about to be carried out: %s", report.Mismatch)
	}
	if err != nil {
		s.log("  error: %v", err)
	}
	return report, err
}

// compareWithFull compares what would be decided with the decisions that were kept with what would be
// decided without. Neither writes anything, and nothing interferes.
func compareWithFull(s *story) {
	s.t.Helper()
	effect, request := s.onEffect, s.onRequest
	s.onEffect, s.onRequest = nil, nil
	defer func() { s.onEffect, s.onRequest = effect, request }()
	decided := func(decisions cache.Cache) (outcome.Report, bool) {
		reconciler, end, err := reconciler(s, false)
		if err != nil {
			return outcome.Report{}, false
		}
		defer end()
		reconciler.Cache = decisions
		report, err := reconciler.Preview(s.t.Context())
		return report, err == nil && !report.Failed()
	}
	kept, readable := decided(s.cache)
	if !readable || kept.Touched == nil {
		return
	}
	full, readable := decided(nil)
	if different := plan.Differences(kept.Decisions, full.Decisions); readable && different != "" {
		s.t.Errorf("decisions that were kept are stale: %s", different)
	}
}

// run reconciles after a dry run, which writes nothing. Without pull requests, the dry run
// announces exactly what is then pushed.
func (s *story) run() {
	fresh := s.random.IntN(4) == 0
	s.log("run, without a mirror: %v", fresh)
	announced, compare := rehearse(s, fresh)
	report, err := reconcileWith(s, fresh, 0)
	if pushed := versionsOf(report, func(e outcome.Effect) bool { return e.Action == outcome.ActionPushed }); compare && err == nil && !report.Failed() && !slices.Equal(announced, pushed) {
		s.t.Errorf("the dry run announced\n%s\nand the run pushed\n%s", strings.Join(announced, "\n"), strings.Join(pushed, "\n"))
	}
}

// rehearse returns what a dry run announces to push, and whether the run may do nothing else.
func rehearse(s *story, fresh bool) (announced []string, compare bool) {
	s.t.Helper()
	reconciler, end, err := reconciler(s, fresh)
	if err != nil {
		return nil, false
	}
	defer end()
	before := s.Store.Branches()
	report, err := reconciler.Rehearse(s.t.Context())
	if after := s.Store.Branches(); !maps.Equal(before, after) {
		s.t.Errorf("a dry run moved branches:\n%v\n%v", before, after)
	}
	announced = versionsOf(report, func(e outcome.Effect) bool { return e.Planned })
	return announced, err == nil && !report.Failed() && !reconciler.Clients.Forge.Features().PullRequests
}

// versionsOf lists the versions of effects, in their order.
func versionsOf(report outcome.Report, wanted func(outcome.Effect) bool) (all []string) {
	for _, e := range report.Effects {
		for _, d := range e.Decisions {
			if wanted(e) {
				all = append(all, d.Environment+"/"+d.Application+" "+d.Snapshot.ID())
			}
		}
	}
	return all
}

// disturbed reconciles once with a hook around its effects.
func disturbed(s *story, effect func(before bool, what string) error) {
	s.onEffect = effect
	s.reconcile()
	s.onEffect = nil
}

// crash fails a run at some effect: before it happens, or after, so that the response is
// lost.
func crash(s *story) {
	at, before := s.random.IntN(6), s.random.IntN(2) == 0
	s.log("run that crashes at effect %d, before it: %v", at, before)
	n, broken := 0, errors.New("killed")
	disturbed(s, func(now bool, _ string) error {
		if now != before {
			return nil
		}
		if n++; n > at {
			return fault.Wrap(fault.Temporary, broken)
		}
		return nil
	})
}

// race reconciles a second time in the middle of the first.
func race(s *story) {
	at := s.random.IntN(4)
	s.log("two runs at effect %d", at)
	atEffect(s, at, func() {
		s.log(" inner")
		s.reconcile()
		s.log(" outer")
	})
}

// atEffect reconciles, and acts once before an effect.
func atEffect(s *story, at int, act func()) {
	n, acted := 0, false
	disturbed(s, func(before bool, _ string) error {
		if n++; !acted && before && n > at {
			acted = true
			act()
		}
		return nil
	})
}

// clockSkew reconciles in a process with a wrong clock.
func clockSkew(s *story) {
	skew := time.Duration(s.random.IntN(40)-20) * time.Minute
	s.log("run with a clock that is %s off", skew)
	s.skewed = true
	_, _ = reconcileWith(s, false, skew)
}

// failingForge makes every third request to the forge fail.
func failingForge(s *story) {
	kinds := []fault.Kind{fault.Temporary, fault.Unauthorized, fault.RateLimited, fault.Conflict}
	kind := kinds[s.random.IntN(len(kinds))]
	s.log("run with a forge that fails randomly: %s", kind)
	s.onRequest = func(what string) error {
		if s.random.IntN(3) == 0 {
			return fault.New(kind, "%s fails", what)
		}
		return nil
	}
	s.reconcile()
	s.onRequest = nil
}

// atRequest reconciles, and acts on the server once before a request to the forge. The
// adapter may retry a request.
func atRequest(s *story, at int, do func()) {
	n := 0
	s.onRequest = func(string) error {
		if n++; n == at+1 {
			do()
		}
		return nil
	}
	s.reconcile()
	s.onRequest = nil
}

// loseResponse makes the server carry out a write and drop the connection.
func loseResponse(s *story) {
	at := s.random.IntN(8)
	s.log("run that loses the response of the first write after request %d", at)
	atRequest(s, at, func() { s.World.Bench.World.Lose(s.t) })
}

// failRequest makes the server fail one request.
func failRequest(s *story) {
	statuses := []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable}
	status, at := statuses[s.random.IntN(len(statuses))], s.random.IntN(8)
	s.log("run with a server that answers request %d with %d", at, status)
	atRequest(s, at, func() { s.World.Bench.World.Fail(s.t, status) })
}

// limit makes the server refuse all requests for a while.
func (s *story) limit() {
	const length = 20 * time.Minute
	secondary, at := s.random.IntN(2) == 0, s.random.IntN(8)
	s.log("run against a rate limit from request %d, secondary: %v", at, secondary)
	atRequest(s, at, func() { s.World.Bench.World.Limit(s.t, secondary, s.Clock.Now().Add(length)) })
	s.Clock.Add(length + time.Minute)
}
