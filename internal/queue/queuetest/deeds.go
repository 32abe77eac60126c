package queuetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"promoter/internal/queue"
)

// hint gives one to four hints in one transaction.
func (s *story) hint() {
	s.Helper()
	now := s.clock.Now()
	urgent := s.IntN(4) == 0
	counts, traces := map[string]int{}, map[string][]string{}
	var hints []queue.Trigger
	for range 1 + s.IntN(4) {
		hint := quietly(string(rune('a' + s.IntN(5))))
		if urgent {
			hint.Debounce, hint.MaxDebounce = 0, 0
		}
		if s.IntN(2) == 0 {
			hint.Trace = trace(s.Int64())
			traces[hint.Key] = append(traces[hint.Key], hint.Trace)
		}
		hints = append(hints, hint)
		counts[hint.Key]++
	}
	s.must(s.anyQueue().Trigger(s.Context(), hints...))
	s.count++
	for key, count := range counts {
		if s.rows[key] == nil {
			s.rows[key] = &row{}
		}
		s.rows[key].hint(now, queue.Trigger{Debounce: hints[0].Debounce, MaxDebounce: hints[0].MaxDebounce}, count, traces[key])
		s.hinted[key] = s.count
	}
	s.tell("hint %d: %v, urgent: %t", s.count, counts, urgent)
}

func (s *story) move() {
	most := []time.Duration{100 * time.Millisecond, 4 * time.Second, 20 * time.Second, 2 * time.Minute}[s.IntN(4)]
	s.clock.Move(time.Duration(s.Int64N(int64(most))).Truncate(time.Millisecond))
}

// claim compares what is claimed with what is due.
func (s *story) claim(limit int) {
	s.Helper()
	now, length := s.clock.Now(), time.Duration(1+s.IntN(20))*time.Second
	items, _, err := s.anyQueue().Claim(s.Context(), "lane", limit, length)
	s.must(err)
	due := map[string]time.Time{}
	for key, row := range s.rows {
		if row.due(now) {
			due[key] = row.at
		}
	}
	if want := min(limit, len(due)); len(items) != want {
		s.Errorf("%d were claimed and %d should be, of %v", len(items), want, due)
	}
	var newest time.Time
	for _, item := range items {
		s.begin(item, due, now.Add(length))
		newest = later(newest, due[item.Key])
		delete(due, item.Key)
	}
	for key, at := range due {
		if at.Before(newest) {
			s.Errorf("%s is due since %v and was passed over for one since %v", key, at, newest)
		}
	}
}

// begin is a run that the queue gave.
func (s *story) begin(item queue.Item, due map[string]time.Time, until time.Time) {
	s.Helper()
	now := s.clock.Now()
	s.tell("claimed %s, attempt %d, until %s", item.Key, item.Attempt, until.Format("15:04:05"))
	if _, ok := due[item.Key]; !ok {
		s.Errorf("%s was claimed and is not due: %+v", item.Key, s.rows[item.Key])
		return
	}
	for _, other := range s.runs {
		if other.item.Key == item.Key && other.until.After(now) {
			s.Errorf("%s runs twice at once: the lease of the other run is good until %v", item.Key, other.until)
		}
	}
	row := s.rows[item.Key]
	row.claim(now, until.Sub(now))
	if row.attempts != item.Attempt {
		s.Errorf("%s: attempt %d, want %d", item.Key, item.Attempt, row.attempts)
	}
	if !slices.Equal(row.seen, item.Traces) {
		s.Errorf("%s has the traces %v, want %v", item.Key, item.Traces, row.seen)
	}
	s.runs = append(s.runs, run{item: item, sees: s.count, until: until})
}

// use does something with a run, whether it has its lease or not.
func (s *story) use() {
	s.Helper()
	at := s.IntN(len(s.runs))
	switch dice := s.IntN(10); {
	case dice < 3:
		s.renew(at)
	case dice < 7:
		result := queue.Result{Forget: s.IntN(4) == 0}
		if s.IntN(3) == 0 {
			result = queue.Result{Next: s.clock.Now().Add(time.Duration(s.IntN(60)) * time.Second)}
		}
		s.done(s.take(at), result)
	case dice < 9:
		s.fail(s.take(at))
	default:
		s.release(s.take(at))
	}
}

// ended tells how something ended, and whether it took effect: exactly when no other
// run of the key has begun since.
func (s *story) ended(r run, what string, err error) bool {
	s.Helper()
	lost := s.isLost(r)
	s.tell("%s %s: %v", what, r.item.Key, err)
	if errors.Is(err, queue.ErrLost) != lost || err != nil && !lost {
		s.Errorf("%s of %s, lost: %t, error: %v", what, r.item.Key, lost, err)
	}
	return !lost
}

// isLost: the key has another run since, or its run ended.
func (s *story) isLost(r run) bool {
	row := s.rows[r.item.Key]
	return row == nil || !row.owned || !row.lease.Equal(r.until)
}

func (s *story) renew(at int) {
	s.Helper()
	r := s.runs[at]
	length := time.Duration(1+s.IntN(20))*time.Second + time.Duration(1+s.IntN(999))*time.Microsecond
	err := s.anyQueue().Renew(s.Context(), r.item, length)
	if s.ended(r, fmt.Sprint("renew for ", length), err) {
		s.runs[at].until = s.clock.Now().Add(length)
		s.rows[r.item.Key].lease = s.runs[at].until
	}
}

func (s *story) done(r run, result queue.Result) {
	s.Helper()
	err := s.anyQueue().Done(s.Context(), r.item, result)
	if s.ended(r, fmt.Sprintf("done %+v", result), err) {
		s.served[r.item.Key] = r.sees
		if s.rows[r.item.Key].done(result.Next) && result.Forget {
			delete(s.rows, r.item.Key)
		}
	}
}

func (s *story) fail(r run) {
	s.Helper()
	wait := time.Duration(s.IntN(60)) * time.Second
	f := queue.Failure{Reason: "no", Delay: wait, MinDelay: wait}
	switch s.IntN(3) {
	case 0:
		f.MinDelay = wait / 2
	case 1:
		f.RetryAt = s.clock.Now().Add(time.Duration(s.IntN(60)) * time.Second)
		f.NotBefore = f.RetryAt
	}
	err := s.anyQueue().Fail(s.Context(), r.item, f)
	if s.ended(r, fmt.Sprintf("fail %+v", f), err) {
		s.rows[r.item.Key].fail(s.clock.Now(), f)
	}
}

func (s *story) release(r run) {
	s.Helper()
	after := time.Duration(s.IntN(3)) * time.Second
	err := s.anyQueue().Release(s.Context(), r.item, after)
	if s.ended(r, "release", err) {
		s.rows[r.item.Key].release(s.clock.Now(), after)
	}
}

// crash ends all processes and begins with new ones. Nobody ends the runs.
func (s *story) crash() {
	s.Helper()
	s.tell("crash")
	s.must(s.db.Close())
	s.runs = nil
	s.open()
}
