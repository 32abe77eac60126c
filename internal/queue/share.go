package queue

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Suspects run alone, so that a process that dies again is not the fault of other work,
// within these limits: otherwise slow work would delay them, and they other work, for as
// long as it likes.
const (
	maxHold  = 20 * time.Second // no other work starts before a suspect
	maxAlone = 30 * time.Second // and beside it
)

// room decides how much work of one kind may start in this process. Only its loop and
// the ends of runs use it, under the lock of the pool.
type room struct {
	limits   Worker
	capacity int         // runs at once, now
	began    []time.Time // when each run began

	running   map[string]int // by tenant
	total     int
	notUrgent int            // runs that are not urgent
	turns     int            // counts starts
	turn      map[string]int // the last start of each tenant

	suspectDue time.Time // of the next suspect; zero: there is none
	hold       time.Time // since then, no other work starts because of a suspect; zero: it does
	alone      time.Time // since then, a suspect runs
	rest       time.Time // until then, no suspect starts
}

// A run that takes longer than slowAfter leaves its worker to others: it waits for a host.
// One that takes longer than grownAfter has all its memory.
const (
	slowAfter  = 5 * time.Second
	grownAfter = 15 * time.Second
)

func newRoom(limits Worker) *room {
	limits.Concurrency = max(1, limits.Concurrency)
	limits.Most = max(limits.Most, limits.Concurrency)
	return &room{limits: limits, capacity: limits.Concurrency, running: map[string]int{}, turn: map[string]int{}}
}

// resize sets the capacity: runs that are slow leave their worker to others.
func (r *room) resize(now time.Time) {
	slow, growing := 0, 0
	for _, begin := range r.began {
		if now.Sub(begin) >= slowAfter {
			slow++
		}
		if now.Sub(begin) < grownAfter {
			growing++
		}
	}
	r.capacity = min(r.limits.Most, r.limits.Concurrency+slow)
	if r.limits.Room != nil && r.total < r.capacity {
		r.capacity = max(1, min(r.capacity, r.total+r.limits.Room(growing)))
	}
}

// next returns how many runs may start now and whether they must be suspects. If none
// may, it returns when to ask again, unless a run ends earlier.
func (r *room) next(now time.Time) (free int, suspects bool, wait time.Duration) {
	r.resize(now)
	if left := r.alone.Add(maxAlone).Sub(now); left > 0 {
		return 0, false, left
	}
	if wait := r.untilSuspect(now); wait > 0 || !r.alone.IsZero() {
		return max(0, r.capacity-r.total), false, min(wait, resizeEvery)
	}
	if r.hold.IsZero() {
		r.hold = now
	}
	if left := r.hold.Add(maxHold).Sub(now); left > 0 && r.total > 0 {
		return 0, false, left
	}
	return max(0, min(1, r.capacity-r.total)), true, resizeEvery
}

// untilSuspect returns when a suspect may start.
func (r *room) untilSuspect(now time.Time) time.Duration {
	if r.suspectDue.IsZero() {
		return maxWait
	}
	return max(r.suspectDue.Sub(now), r.rest.Sub(now), 0)
}

// suspectIn records when the next suspect is due.
func (r *room) suspectIn(now time.Time, wait time.Duration) {
	r.suspectDue = time.Time{}
	if wait < maxWait {
		r.suspectDue = now.Add(wait)
	}
	if r.alone.IsZero() && (wait > 0) {
		r.hold = time.Time{}
	}
}

// resizeEvery is how often a loop without a free worker checks the capacity.
const resizeEvery = time.Second

// maxWait is longer than any wait for work, so that it can be added to a time.
const maxWait = 1000 * time.Hour

// begin and end count a run. Between two suspects, other work runs for as long as it
// waited for the first one.
func (r *room) begin(item Item, suspect bool, now time.Time) {
	r.total++
	r.began = append(r.began, now)
	r.running[item.Tenant]++
	r.turns++
	r.turn[item.Tenant] = r.turns
	if !item.Urgent {
		r.notUrgent++
	}
	if suspect {
		r.alone = now
	}
}

func (r *room) end(item Item, suspect bool, began, now time.Time) {
	r.total--
	r.began = slices.Delete(r.began, slices.Index(r.began, began), slices.Index(r.began, began)+1)
	if r.running[item.Tenant]--; r.running[item.Tenant] == 0 {
		delete(r.running, item.Tenant)
	}
	if len(r.running) == 0 && len(r.turn) > maxTurns {
		clear(r.turn)
	}
	if !item.Urgent {
		r.notUrgent--
	}
	if suspect {
		r.rest = now.Add(now.Sub(r.hold))
		r.alone, r.hold = time.Time{}, time.Time{}
	}
}

// maxTurns limits the tenants whose last start is remembered.
const maxTurns = 10_000

// share distributes free workers. One tenant never has all of them, and no more than
// half while others wait. A part is for urgent work only. Urgent work comes first, then
// the tenant with the fewest runs, then the one whose last start is the longest ago.
func (r *room) share(waiting []Waiting, free int) []Share {
	running := maps.Clone(r.running)
	given := map[string]int{}
	notUrgent := r.notUrgent
	maxNotUrgent := max(1, r.capacity-max(1, r.capacity/4))
	isUrgent := func(w Waiting) bool { return given[w.Tenant] < w.Urgent }
	order := func(a, b Waiting) int {
		if r.capacity > 1 && isUrgent(a) != isUrgent(b) { // a single worker takes turns
			if isUrgent(a) {
				return -1
			}
			return 1
		}
		return cmp.Or(running[a.Tenant]-running[b.Tenant], r.turn[a.Tenant]-r.turn[b.Tenant],
			a.Due.Compare(b.Due), cmp.Compare(a.Tenant, b.Tenant))
	}
	for range free {
		left := slices.DeleteFunc(slices.Clone(waiting), func(w Waiting) bool { return given[w.Tenant] >= w.Runs })
		most := r.capacity - 1
		if len(left) > 1 {
			most = (r.capacity + 1) / 2
		}
		able := slices.DeleteFunc(left, func(w Waiting) bool {
			return w.Tenant != "" && running[w.Tenant] >= max(1, most) || !isUrgent(w) && notUrgent >= maxNotUrgent
		})
		if len(able) == 0 {
			break
		}
		chosen := slices.MinFunc(able, order)
		if !isUrgent(chosen) {
			notUrgent++
		}
		running[chosen.Tenant]++
		given[chosen.Tenant]++
	}
	shares := []Share{}
	for _, w := range waiting {
		if given[w.Tenant] > 0 {
			shares = append(shares, Share{w.Tenant, given[w.Tenant]})
		}
	}
	return shares
}
