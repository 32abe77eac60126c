package app_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/internal/database/databasetest"
)

// company is a story that several processes serve at once.
type company struct {
	*mortal
	all []*process
}

// newCompany starts some processes over one database and waits for the first
// reconciliation of any of them.
func newCompany(t *testing.T, config, poll string, size int) *company {
	t.Helper()
	c := &company{mortal: newMortal(t, databasetest.Kinds()[1], config, poll)} // skips without PostgreSQL
	for n := range size {
		o := c.orders
		o.Lease = leaseOfCompany
		o.File = c.processFile(fmt.Sprintf("data-%d", n))
		c.all = append(c.all, c.begin(o))
	}
	for n, one := range c.all {
		if !one.answers() {
			t.Fatalf("replica %d ended:\n%s", n, one.log())
		}
	}
	c.process = c.all[size-1]
	c.settle()
	return c
}

// burst sends webhooks to the processes in parallel, and calls a function in between.
func (c *company) burst(tag string, to []*process, middle func()) {
	c.t.Helper()
	var sending sync.WaitGroup
	for i := range 30 {
		if i == 15 {
			middle()
		}
		sending.Go(func() { c.postTo(to[i%len(to)], c.pushedImages(tag, fmt.Sprintf("%s-%d", tag, i), "web")) })
	}
	sending.Wait()
}

// How often they poll, and how long they wait for the work of a dead process.
const (
	pollOfCompany  = 2 * time.Second
	leaseOfCompany = 6 * time.Second
)

// Three processes share the work over PostgreSQL. One is killed while webhooks arrive.
// What any of them accepted is stored and reconciled, each environment has one pull
// request, and a schedule that all of them see fires once.
func TestServe_replicas(t *testing.T) {
	t.Parallel()
	c := newCompany(t, reviewed, pollOfCompany.String(), 3)
	c.release("web", "1.1.0")
	c.burst("1.1.0", c.all, c.all[0].kill)
	begin := time.Now() // before the triggers are read: a poll in between would have no time
	before := triggers(c.settle())
	c.pulls(stagingHead + " open")
	if len(c.accepted) < 15 {
		t.Errorf("only %d webhooks were accepted", len(c.accepted))
	}
	accepted := len(c.accepted)
	c.release("web", "1.2.0")
	c.burst("1.2.0", c.all[1:], func() {})
	c.settle()
	if title := c.repo.Pulls.Get(1).Title; !strings.Contains(title, "1.2.0") {
		t.Errorf("the pull request was not refreshed: %s", title)
	}
	c.pollsOnce(begin, before, accepted)
	c.repo.Pulls.Merge("ada", 1, "squash")
	c.post(c.happened("pull_request"))
	c.settle()
	c.pulls(stagingHead+" merged", prodHead+" open")
	c.keptAll()
	for _, one := range c.all[1:] {
		one.end()
	}
	c.holds("dev", "1.2.0 1.0.0")
	c.calm()
}

// pollsOnce waits for some polls and checks that each was one for all replicas, and at most a
// tenth of the interval early, and that the repository was triggered at most once in each
// interval. No process was killed since the beginning, and each accepted webhook also
// triggered the repository.
func (c *company) pollsOnce(begin time.Time, before map[string]int64, accepted int) {
	c.t.Helper()
	after := triggers(c.until(func(work []entry) bool { return c.rest(work) && triggers(work)["poll"] >= before["poll"]+3 }))
	polls, triggered, webhooks := after["poll"]-before["poll"], after["repository"]-before["repository"], int64(len(c.accepted)-accepted)
	// A turn that passed just before the beginning may be noticed after it, and the first poll of
	// each process triggers the repository too.
	if most := int64(time.Since(begin)/pollOfCompany) + 2 + int64(len(c.all)-1); triggered <= webhooks || triggered > webhooks+most {
		c.t.Errorf("%d triggers by %d webhooks, and time for %d turns", triggered, webhooks, most)
	}
	if most := int64(time.Since(begin)/(pollOfCompany*9/10)) + 1; polls > most {
		c.t.Errorf("%d polls where there is time for %d", polls, most)
	}
}

// triggers counts the triggers of each kind of work.
func triggers(work []entry) map[string]int64 {
	counts := map[string]int64{}
	for _, e := range work {
		counts[e.kind] += e.triggered
	}
	return counts
}
