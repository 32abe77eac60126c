package app_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/database/databasetest"
)

// leaseOfReplicas is a fifth of the default: the recovery takes longer with a longer
// one.
const leaseOfReplicas = 3 * time.Second

// BenchmarkRecovery kills a process during a reconciliation and measures how long it
// takes until that work continues, up to the first Git request to the forge. On SQLite
// the next process continues, measured from its start, and compared with a second. On
// PostgreSQL another replica does, measured from the kill at a random moment of the
// lease, and compared with the lease.
func BenchmarkRecovery(b *testing.B) {
	for _, kind := range databasetest.Kinds() {
		b.Run(kind.Name, func(b *testing.B) {
			r := newRecovery(b, kind)
			var all []time.Duration
			for b.Loop() {
				all = append(all, r.measure())
			}
			slices.Sort(all)
			median, worst := all[len(all)/2], all[len(all)-1]
			b.ReportMetric(float64(median.Microseconds())/1000, "ms-recovery")
			b.ReportMetric(float64(worst.Microseconds())/1000, "ms-worst")
			b.ReportMetric(float64(median)/float64(r.limit), "x-limit")
			b.ReportMetric(float64(r.limit.Milliseconds()), "ms-limit")
		})
	}
}

// recovery is a story whose reconciliations are interrupted.
type recovery struct {
	*mortal
	limit time.Duration
	files [2]string // server files of replicas that take over from each other; those of SQLite are the same
	turn  int
}

func newRecovery(b *testing.B, kind databasetest.Kind) *recovery {
	b.Helper()
	r := &recovery{mortal: newMortal(b, kind, chain, "1h"), limit: time.Second}
	r.files = [2]string{r.orders.File, r.orders.File}
	if kind.Name != "SQLite" {
		r.files[1] = r.processFile("other")
		r.limit, r.orders.Lease = leaseOfReplicas, leaseOfReplicas
	}
	r.start(r.orders)
	r.settle()
	return r
}

// measure kills one process, and returns how long it took until the work continued.
func (r *recovery) measure() time.Duration {
	r.t.Helper()
	victim := r.process
	held, again := r.hold(victim)
	r.post(r.happened("push"))
	r.signal(held)
	r.turn++
	r.orders.File = r.files[r.turn%2]
	var died time.Time
	if r.files[0] == r.files[1] {
		victim.kill()
		died = time.Now()
		r.start(r.orders)
	} else {
		r.start(r.orders)
		r.until(func(work []entry) bool {
			return slices.ContainsFunc(work, func(e entry) bool { return e.kind == "poll" && e.rests() })
		})
		<-time.After(rand.N(leaseOfReplicas)) // leases are renewed meanwhile
		died = time.Now()
		victim.kill()
	}
	r.signal(again)
	took := time.Since(died)
	r.forge.Traffic.Watch(nil)
	r.settle()
	return took
}

// hold blocks the next reconciliation of a process at its first Git request until the
// process is dead. It signals that request and the first one after it.
func (r *recovery) hold(victim *process) (held, again <-chan struct{}) {
	first, second, asked := make(chan struct{}), make(chan struct{}), 0
	var mutex sync.Mutex
	r.forge.Traffic.Watch(func(route string) {
		if !strings.HasPrefix(route, "GIT ") {
			return
		}
		mutex.Lock()
		asked++
		now := asked
		mutex.Unlock()
		switch now {
		case 1:
			close(first)
			<-victim.dead
		case 2:
			close(second)
		}
	})
	return first, second
}

func (r *recovery) signal(of <-chan struct{}) {
	r.t.Helper()
	select {
	case <-of:
	case <-time.After(patience):
		r.t.Fatalf("nothing happens:\n%s", r.process.log())
	}
}
