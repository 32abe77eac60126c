package queuetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// Play runs random stories of triggers, runs, failures, crashes, and expiring
// leases against a simple model, for the budget or for PROMOTER_MODEL_TIME. A
// failure prints the seed of its story; set PROMOTER_MODEL_SEED to repeat it.
func Play(t *testing.T, kind databasetest.Kind, budget time.Duration) {
	t.Helper()
	if text, set := os.LookupEnv("PROMOTER_MODEL_SEED"); set {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		newStory(t, kind, seed).play()
		return
	}
	if text, set := os.LookupEnv("PROMOTER_MODEL_TIME"); set {
		var err error
		if budget, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	over := time.After(budget)
	played := 0
	for seed := rand.Uint64(); !t.Failed(); seed++ {
		select {
		case <-over:
			t.Logf("%d stories", played)
			return
		default:
			newStory(t, kind, seed).play()
			played++
		}
	}
}

// story is one random story. Two queues share the work: replicas on PostgreSQL,
// and two queues of one process on SQLite.
type story struct {
	*testing.T
	*rand.Rand
	seed   uint64
	clock  *Clock
	o      database.Options
	db     *database.DB
	queues []*queue.Queue

	rows      map[string]*row
	runs      []run
	count     int            // of triggers
	triggered map[string]int // the last trigger of a key, as count
	served    map[string]int // the last trigger that a successful run may have seen
	log       []string
}

// run is a run in progress, or one that has lost its lease without noticing.
type run struct {
	item  queue.Item
	sees  int // count when it began
	until time.Time
}

// storyLength is the number of steps in a story.
const storyLength = 120

func newStory(t *testing.T, kind databasetest.Kind, seed uint64) *story {
	t.Helper()
	s := &story{
		T: t, Rand: rand.New(rand.NewPCG(seed, 1)), seed: seed, clock: NewClock(), o: kind.New(t), //nolint:gosec // stories, not secrets
		rows: map[string]*row{}, triggered: map[string]int{}, served: map[string]int{},
	}
	s.o.Now = s.clock.Now
	s.open()
	return s
}

// open starts new processes.
func (s *story) open() {
	s.Helper()
	db, err := database.Open(s.Context(), s.o)
	s.must(err)
	s.db = db
	s.queues = nil
	for range 2 {
		q, err := queue.New(s.Context(), db, "story")
		s.must(err)
		s.queues = append(s.queues, q)
	}
	if db.SingleProcess() {
		for _, row := range s.rows {
			row.free(s.clock.Now())
		}
	}
}

func (s *story) play() {
	s.Helper()
	defer func() {
		if s.Failed() {
			s.Logf("play it again with PROMOTER_MODEL_SEED=%d:\n%s", s.seed, strings.Join(s.log, "\n"))
		}
		if err := s.db.Close(); err != nil {
			s.Error(err)
		}
	}()
	for range storyLength {
		if s.step(); s.Failed() {
			return
		}
	}
	s.end()
}

func (s *story) tell(format string, args ...any) {
	s.log = append(s.log, s.clock.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (s *story) must(err error) {
	s.Helper()
	if err != nil {
		s.log = append(s.log, err.Error())
		s.Fatal(err)
	}
}

// step runs one random step.
func (s *story) step() {
	s.Helper()
	switch dice := s.IntN(100); {
	case dice < 30:
		s.trigger()
	case dice < 50:
		s.move()
	case dice < 72:
		s.claim(1 + s.IntN(4))
	case dice < 96 && len(s.runs) > 0:
		s.use()
	case dice < 97:
		s.crash()
	}
}

// end completes all remaining work and checks that every trigger was served.
func (s *story) end() {
	s.Helper()
	for quiet := 0; quiet < 30; { // a third of the claims are for suspects
		s.clock.Move(2 * time.Hour)
		s.runs = nil
		s.claim(100)
		if quiet++; len(s.runs) > 0 {
			quiet = 0
		}
		for len(s.runs) > 0 {
			s.done(s.take(0), queue.Result{})
		}
	}
	for key, count := range s.triggered {
		if s.served[key] < count {
			s.Errorf("trigger %d for %s was lost: the last successful run saw up to %d", count, key, s.served[key])
		}
	}
}

// take removes a run from those in progress.
func (s *story) take(at int) run {
	taken := s.runs[at]
	s.runs = slices.Delete(s.runs, at, at+1)
	return taken
}

func (s *story) anyQueue() *queue.Queue { return s.queues[s.IntN(len(s.queues))] }

// trigger sends one to four triggers in one transaction.
func (s *story) trigger() {
	s.Helper()
	now := s.clock.Now()
	urgent := s.IntN(4) == 0
	counts, traces := map[string]int{}, map[string][]string{}
	var sent []queue.Trigger
	for range 1 + s.IntN(4) {
		one := debounced(string(rune('a' + s.IntN(5))))
		if urgent {
			one.Debounce, one.MaxDebounce, one.Urgent = 0, 0, true
		}
		if s.IntN(2) == 0 {
			one.Trace = trace(s.Int64())
			traces[one.Key] = append(traces[one.Key], one.Trace)
		}
		sent = append(sent, one)
		counts[one.Key]++
	}
	s.must(s.anyQueue().Trigger(s.Context(), sent...))
	s.count++
	for key, count := range counts {
		if s.rows[key] == nil {
			s.rows[key] = &row{}
		}
		s.rows[key].trigger(now, queue.Trigger{Debounce: sent[0].Debounce, MaxDebounce: sent[0].MaxDebounce, Urgent: urgent}, count, traces[key])
		s.triggered[key] = s.count
	}
	s.tell("trigger %d: %v, urgent: %t", s.count, counts, urgent)
}

func (s *story) move() {
	most := []time.Duration{100 * time.Millisecond, 4 * time.Second, 20 * time.Second, 2 * time.Minute}[s.IntN(4)]
	s.clock.Move(time.Duration(s.Int64N(int64(most))).Truncate(time.Millisecond))
}

// claim compares what is claimed with what is due.
func (s *story) claim(limit int) {
	s.Helper()
	now, length := s.clock.Now(), time.Duration(1+s.IntN(20))*time.Second
	by := s.IntN(len(s.queues))
	suspects := s.IntN(3) == 0
	claimed, err := s.queues[by].Claim(s.Context(), queue.ClaimOptions{
		Kind: "repository", Limit: limit, Lease: length, Suspects: suspects, FirstCrash: time.Minute, LastCrash: 4 * time.Minute,
	})
	s.must(err)
	items := claimed.Items
	s.expire(now, s.queues[by])
	due := map[string]time.Time{}
	for key, row := range s.rows {
		if row.due(now) && (row.crashes > 0) == suspects {
			due[key] = row.at
		}
	}
	if want := min(limit, len(due)); len(items) != want {
		s.Errorf("%d were claimed and %d should be, of %v", len(items), want, due)
	}
	var newest time.Time
	for _, item := range items {
		s.begin(item, due, now.Add(length), s.queues[by])
		newest = later(newest, due[item.Key])
		delete(due, item.Key)
	}
	for key, at := range due {
		if at.Before(newest) {
			s.Errorf("%s is due since %v and was passed over for one since %v", key, at, newest)
		}
	}
}

// expire ends the runs whose lease is over.
func (s *story) expire(now time.Time, by *queue.Queue) {
	for _, row := range s.rows {
		if row.owned && !row.lease.After(now) && row.by == by {
			row.owned = false
		}
	}
	with := map[*queue.Queue]int{}
	for _, row := range s.rows {
		if row.owned {
			with[row.by]++
		}
		if row.crashedBy != nil && !(row.owned && row.crashedBy == row.by) {
			with[row.crashedBy]++
		}
	}
	for _, row := range s.rows {
		if row.owned && !row.lease.After(now) {
			row.crash(now, with[row.by] > 1)
		}
	}
}

// begin records a run that the queue returned.
func (s *story) begin(item queue.Item, due map[string]time.Time, until time.Time, by *queue.Queue) {
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
	row.by = by
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

// ended reports how a run ended and whether that took effect: it does exactly
// when no other run of the key has begun since.
func (s *story) ended(r run, what string, err error) bool {
	s.Helper()
	lost := s.isLost(r)
	s.tell("%s %s: %v", what, r.item.Key, err)
	if errors.Is(err, queue.ErrLost) != lost || err != nil && !lost {
		s.Errorf("%s of %s, lost: %t, error: %v", what, r.item.Key, lost, err)
	}
	return !lost
}

// isLost checks that the key has another run since, or that its run ended.
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

// crash stops all processes and starts new ones. The runs are not ended.
func (s *story) crash() {
	s.Helper()
	s.tell("crash")
	s.must(s.db.Close())
	s.runs = nil
	s.open()
}

// row models a row: what the queue guarantees about one key.
type row struct {
	unread int // triggers that no run has read
	read   int // triggers that a failed or current run has read

	scheduled bool      // it is due without a trigger
	first     time.Time // first trigger that counts for the debounce time
	latest    time.Time // triggers delay it until then at most
	at        time.Time // when it is due
	hold      time.Time // no trigger runs it before that
	attempts  int

	owned bool
	by    *queue.Queue
	lease time.Time

	crashedBy *queue.Queue // the last that died during a run
	crashes   int

	retry   time.Time // of a failure, unless a trigger runs it earlier
	counted bool      // the current run counts as an attempt

	fresh []string // traces of the unread triggers, oldest first
	seen  []string // and of the read ones
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// trigger is one trigger, or several of one transaction that are as urgent as the first.
func (r *row) trigger(now time.Time, h queue.Trigger, count int, traces []string) {
	quiet, within := now.Add(h.Debounce), now.Add(max(h.Debounce, h.MaxDebounce))
	// The debounce time starts again for an idle row, a row that only a schedule keeps,
	// and a row whose triggers are all in a run.
	if r.first.IsZero() || r.owned && r.unread == 0 {
		r.first, r.latest = now, within
	} else {
		r.latest = earlier(r.latest, within)
	}
	if r.crashes > 0 && !h.Urgent {
		r.at = later(r.at, now)
	} else {
		r.at = later(r.hold, earlier(quiet, r.latest))
	}
	r.unread += count
	r.fresh = newest(append(r.fresh, traces...))
}

// newest returns the last 20.
func newest(traces []string) []string { return traces[max(0, len(traces)-20):] }

func (r *row) due(now time.Time) bool {
	if r.unread+r.read == 0 && !r.scheduled || r.at.After(now) {
		return false
	}
	return !r.owned
}

// crash counts the death of the process of a run, which had other runs or not.
func (r *row) crash(now time.Time, together bool) {
	first, delay := time.Minute, min(time.Minute<<r.crashes, 4*time.Minute)
	if together && r.crashes == 0 {
		first, delay = 0, 0
	}
	r.hold, r.at = later(r.hold, now.Add(first)), later(r.at, now.Add(delay))
	r.owned, r.crashedBy = false, r.by
	r.crashes++
}

func (r *row) claim(now time.Time, length time.Duration) {
	r.read, r.unread = r.read+r.unread, 0
	r.seen, r.fresh = newest(append(r.seen, r.fresh...)), nil
	r.owned, r.lease = true, now.Add(length)
	if r.counted = !r.retry.After(now); r.counted {
		r.attempts++
	}
}

// free ends the lease at once.
func (r *row) free(now time.Time) {
	if r.owned {
		r.lease = earlier(r.lease, now)
	}
}

// done reports whether nothing is left.
func (r *row) done(next time.Time) bool {
	r.owned, r.attempts, r.crashes, r.hold, r.read, r.scheduled, r.seen = false, 0, 0, time.Time{}, 0, false, nil
	r.retry = time.Time{}
	if r.unread > 0 {
		return false
	}
	r.first = time.Time{}
	if !next.IsZero() {
		r.scheduled, r.at = true, next
	}
	return true
}

func (r *row) fail(now time.Time, f queue.Failure) {
	r.owned = false
	r.hold = later(now.Add(f.MinDelay), f.NotBefore)
	again := now.Add(f.Delay)
	if r.retry.After(now) {
		again = r.retry
	}
	again = later(again, f.RetryAt)
	r.retry = again
	if r.unread > 0 {
		again = earlier(r.at, again)
	}
	r.at = later(r.hold, again)
}

func (r *row) release(now time.Time, after time.Duration) {
	r.owned = false
	if r.counted {
		r.attempts--
	}
	r.at = later(r.at, now.Add(after))
}
