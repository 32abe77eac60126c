package rendered

import (
	"context"
	"maps"
	"sync"
	"time"
)

// slots let a few children run at once. Of the owners that wait, the one whose children used the least
// time of a processor of late is next: one that renders for long waits behind the others, but not forever.
// A child that runs counts as if it used the most.
type slots struct {
	now func() time.Time

	mu      sync.Mutex
	free    int
	waiting []*waiter // in the order in which they came
	used    map[string]time.Duration
	halved  time.Time // when used was halved last
}

type waiter struct {
	owner string
	since time.Time
	begin chan struct{} // closed when it has a slot
}

// maxBehind limits how much longer an owner waits than one that used nothing. The reconciliation waits meanwhile.
const maxBehind = time.Minute

// forgetAfter is after how long half of the used time is forgotten.
const forgetAfter = 10 * time.Minute

// maxOwners limits the owners whose time is remembered.
const maxOwners = 10_000

func newSlots(number int, now func() time.Time) *slots {
	return &slots{now: now, free: number, used: map[string]time.Duration{}, halved: now()}
}

// acquire waits for a slot. The function releases it, with the time of a processor that was used.
func (s *slots) acquire(ctx context.Context, owner string) (release func(used time.Duration), err error) {
	w := &waiter{owner: owner, since: s.now(), begin: make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, w)
	s.next()
	s.mu.Unlock()
	select {
	case <-w.begin:
	case <-ctx.Done():
		s.leave(w)
		return nil, ctx.Err()
	}
	return func(used time.Duration) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.charge(owner, used-maxTime)
		s.free++
		s.next()
	}, nil
}

// next gives free slots to those that wait.
func (s *slots) next() {
	for s.free > 0 && len(s.waiting) > 0 {
		first := 0
		for i, w := range s.waiting {
			if s.rank(w).Before(s.rank(s.waiting[first])) {
				first = i
			}
		}
		next := s.waiting[first]
		s.waiting = append(s.waiting[:first], s.waiting[first+1:]...)
		s.free--
		s.charge(next.owner, maxTime) // until it is known
		close(next.begin)
	}
}

// rank returns when a waiter came, later by what its owner used.
func (s *slots) rank(w *waiter) time.Time { return w.since.Add(min(s.used[w.owner], maxBehind)) }

// leave ends the wait of one that wants no slot any more.
func (s *slots) leave(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, one := range s.waiting {
		if one == w {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			return
		}
	}
	s.charge(w.owner, -maxTime)
	s.free++ // it had one at the same moment
	s.next()
}

func (s *slots) charge(owner string, used time.Duration) {
	for now := s.now(); now.Sub(s.halved) >= forgetAfter; s.halved = s.halved.Add(forgetAfter) {
		if len(s.used) == 0 {
			s.halved = now
			break
		}
		for name, before := range s.used {
			s.used[name] = before / 2
		}
		maps.DeleteFunc(s.used, func(_ string, left time.Duration) bool { return left < time.Second })
	}
	if _, known := s.used[owner]; !known && len(s.used) >= maxOwners {
		clear(s.used)
	}
	if s.used[owner] += used; s.used[owner] <= 0 { // some of it is forgotten already
		delete(s.used, owner)
	}
}
