package modeltest

import (
	"errors"
	"net/http"
	"time"

	"promoter/internal/engine"
	"promoter/internal/fault"
)

// lane begins a process of promoter that can be disturbed.
func (s *story) lane(fresh bool) (*engine.Reconciler, func(), error) {
	s.t.Helper()
	lane, end, err := s.Reconciler(s.t, fresh)
	if err != nil {
		return nil, nil, err
	}
	lane.Remote, lane.Repository, lane.Now = remote{lane.Remote, s}, s.around(lane.Repository), s.Clock.Now
	return lane, end, nil
}

// pass runs once; what it reports is told.
func (s *story) pass() { s.passBy(false, 0) }

// passBy runs with or without a mirror, by a clock that may be off.
func (s *story) passBy(fresh bool, skew time.Duration) {
	s.t.Helper()
	s.passes++
	lane, end, err := s.lane(fresh)
	if err != nil {
		s.tell("  no lane: %v", err)
		return
	}
	defer end()
	lane.Now = func() time.Time { return s.Clock.Now().Add(skew) }
	report, err := lane.Reconcile(s.t.Context())
	for _, done := range report.Effects {
		s.tell("  %s %s (%v) %s", done.Head, done.Action, done.Err, done.Reason)
	}
	for _, d := range report.Decisions {
		s.tell("  %s/%s %s: %s", d.Environment, d.Application, d.State, d.Reason)
		if d.Reason.Message == "" {
			s.t.Errorf("%s/%s is %s without a reason", d.Environment, d.Application, d.State)
		}
	}
	for _, trouble := range report.Errors {
		s.tell("  trouble: %s: %v", trouble.What, trouble.Err)
	}
	if err != nil {
		s.tell("  error: %v", err)
	}
}

func (s *story) run() {
	fresh := s.random.IntN(4) == 0
	s.tell("run, without a mirror: %v", fresh)
	s.passBy(fresh, 0)
}

// disturbed runs once with something around its effects.
func (s *story) disturbed(effect func(before bool, what string) error) {
	s.effect = effect
	s.pass()
	s.effect = nil
}

// crash breaks a run at some effect: before it happens, or after, so that the
// answer is lost.
func (s *story) crash() {
	at, before := s.random.IntN(6), s.random.IntN(2) == 0
	s.tell("run that breaks at effect %d, before it: %v", at, before)
	n, broken := 0, errors.New("killed")
	s.disturbed(func(now bool, _ string) error {
		if now != before {
			return nil
		}
		if n++; n > at {
			return fault.Wrap(fault.Temporary, broken)
		}
		return nil
	})
}

// race lets a second run happen in the middle of the first.
func (s *story) race() {
	at := s.random.IntN(4)
	s.tell("two runs at effect %d", at)
	s.atEffect(at, func() {
		s.tell(" inner")
		s.pass()
		s.tell(" outer")
	})
}

// atEffect runs, and lets something happen once, before an effect.
func (s *story) atEffect(at int, act func()) {
	n, acted := 0, false
	s.disturbed(func(before bool, _ string) error {
		if n++; !acted && before && n > at {
			acted = true
			act()
		}
		return nil
	})
}

// skewed runs in a process whose clock is wrong.
func (s *story) skewed() {
	skew := time.Duration(s.random.IntN(40)-20) * time.Minute
	s.tell("run with a clock that is %s off", skew)
	s.passBy(false, skew)
}

// flaky lets every third request to the forge fail.
func (s *story) flaky() {
	kinds := []fault.Kind{fault.Temporary, fault.Unauthorized, fault.RateLimited, fault.Conflict}
	kind := kinds[s.random.IntN(len(kinds))]
	s.tell("run with a forge that fails now and then: %s", kind)
	s.asked = func(what string) error {
		if s.random.IntN(3) == 0 {
			return fault.New(kind, "%s fails", what)
		}
		return nil
	}
	s.pass()
	s.asked = nil
}

// atRequest runs, and does something to the server once, before a request of the
// forge. A request may be asked again by the adapter.
func (s *story) atRequest(at int, do func()) {
	n := 0
	s.asked = func(string) error {
		if n++; n == at+1 {
			do()
		}
		return nil
	}
	s.pass()
	s.asked = nil
}

// lose has the server carry out a write and break the connection.
func (s *story) lose() {
	at := s.random.IntN(8)
	s.tell("run whose first write after request %d is answered by nobody", at)
	s.atRequest(at, func() { s.World.Bench.World.Lose(s.t) })
}

// fail has the server answer one request with an accident.
func (s *story) fail() {
	statuses := []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable}
	status, at := statuses[s.random.IntN(len(statuses))], s.random.IntN(8)
	s.tell("run with a server that answers request %d with %d", at, status)
	s.atRequest(at, func() { s.World.Bench.World.Fail(s.t, status) })
}

// limit has the server refuse all requests for a while.
func (s *story) limit() {
	const length = 20 * time.Minute
	secondary, at := s.random.IntN(2) == 0, s.random.IntN(8)
	s.tell("run against a rate limit from request %d, secondary: %v", at, secondary)
	s.atRequest(at, func() { s.World.Bench.World.Limit(s.t, secondary, s.Clock.Now().Add(length)) })
	s.Clock.Add(length + time.Minute)
}
