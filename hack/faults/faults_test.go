package faults

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"promoter/hack/process"
	"promoter/internal/api"
	"promoter/internal/database"
	"promoter/internal/database/databasetest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

const (
	// faultFor is how long each fault lasts.
	faultFor = 10 * time.Second
	// limit is how long everything may take to settle when it is over, and a promotion of a
	// tenant without a fault meanwhile.
	limit = time.Minute
)

// faultsVariable selects faults by a regular expression on their names.
const faultsVariable = "PROMOTER_FAULTS"

// atOnce is how many tenants have a fault at the same time. The reconciliations of all at once would keep two processors busy
// for longer than the limit.
const atOnce = 16

// BenchmarkFaults lets atOnce tenants have their own faults at the same time, with one webhook
// per second each, while one without a fault is promoted again and again. Then it measures
// how long each takes to settle. The next ones follow, with another service.
func BenchmarkFaults(b *testing.B) {
	program := process.Build(b)
	for i, kind := range databasetest.Kinds() {
		if testing.Short() && i > 0 {
			continue
		}
		b.Run(kind.Name, func(b *testing.B) {
			settled := map[string]time.Duration{}
			var peak, exit float64
			for b.Loop() {
				for some := range slices.Chunk(selected(), atOnce) {
					c := newCampaign(b, program, kind.New(b), some)
					for name, took := range c.round() {
						settled[name] = max(settled[name], took)
					}
					peak = max(peak, c.process.Peak(b))
					exit = max(exit, c.process.Stop(b).Seconds())
				}
			}
			for _, name := range slices.Sorted(maps.Keys(settled)) {
				b.ReportMetric(settled[name].Seconds(), "s:"+name)
			}
			b.ReportMetric(peak, "MiB")
			b.ReportMetric(exit, "s-exit")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// campaign is one service with many tenants.
type campaign struct {
	b       *testing.B
	process *process.Process
	failing []*tenant
	other   *tenant // without a fault
}

// selected returns the faults whose names the variable matches, in their order. The short form has every third one, so that each
// peer and each way to fail is there.
func selected() (some []fault) {
	wanted := regexp.MustCompile(os.Getenv(faultsVariable))
	all := slices.DeleteFunc(faults(), func(one fault) bool { return !wanted.MatchString(one.name) })
	slices.SortFunc(all, func(a, b fault) int { return strings.Compare(a.name, b.name) })
	for i, one := range all {
		if i%3 == 0 || !testing.Short() {
			some = append(some, one)
		}
	}
	return some
}

func newCampaign(b *testing.B, program string, o database.Options, of []fault) *campaign {
	b.Helper()
	c := &campaign{b: b, other: newTenant(b, fault{name: "none", on: "github"})}
	for _, one := range of {
		c.failing = append(c.failing, newTenant(b, one))
	}
	all := append([]*tenant{c.other}, c.failing...)
	address := ""
	if o.Path == "" {
		address = `database: {url: "env:DATABASE"}`
	}
	c.process = process.Start(b, process.Options{
		Program: program, Config: serverFile(filepath.Join(b.TempDir(), "data"), address, all),
		Environment: append(tokens(all), "DATABASE="+o.URL.Reveal()),
	})
	for _, w := range all {
		w.release(b)
		w.notify(b, c.process)
	}
	c.settle(all)
	return c
}

// round lets all faults happen once. It returns how long each tenant took to settle, and the
// slowest promotion of the other one under its name.
func (c *campaign) round() map[string]time.Duration {
	c.b.Helper()
	for _, w := range c.failing {
		w.release(c.b)
		w.failed.Store(0)
		w.failing.Store(true)
	}
	over := make(chan struct{})
	var slowest time.Duration
	var others sync.WaitGroup
	others.Go(func() { slowest = c.promoteOther(over) })
	for range int(faultFor / time.Second) {
		for _, w := range c.failing {
			w.notify(c.b, c.process)
		}
		<-time.After(time.Second)
	}
	c.met()
	c.reported()
	for _, w := range c.failing {
		w.failing.Store(false)
	}
	settled := c.settle(c.failing)
	close(over)
	others.Wait()
	settled[c.other.fault.name] = slowest
	for _, w := range append(c.failing, c.other) {
		w.sound(c.b)
	}
	return settled
}

// met waits until each tenant met its fault: a promotion may reach the step that fails only after others.
func (c *campaign) met() {
	c.b.Helper()
	for begin := time.Now(); ; <-time.After(interval) {
		i := slices.IndexFunc(c.failing, func(w *tenant) bool { return w.failed.Load() == 0 })
		if i < 0 {
			return
		}
		if time.Since(begin) > limit {
			c.b.Fatalf("no request met %s", c.failing[i].fault.name)
		}
	}
}

// reported checks that every tenant whose versions are not promoted has a reason in the
// status: of the repository, or of prod, whose merge the forge did not make yet.
func (c *campaign) reported() {
	c.b.Helper()
	states, err := c.process.Status(c.b)
	if err != nil {
		c.b.Error(err)
	}
	for _, w := range c.failing {
		lag := w.lag()
		if states[w.name()].State != api.StateIdle || lag == "" {
			continue
		}
		reasons, err := c.process.Reasons(c.b, w.name())
		if err != nil || !strings.Contains(reasons["prod"], "does not merge it yet") && w.lag() != "" {
			c.b.Errorf("%s: the status is idle, but %s: %v, %v", w.fault.name, lag, reasons, err)
		}
	}
}

// promoteOther promotes the tenant without a fault until the end, and returns how long the
// slowest promotion took.
func (c *campaign) promoteOther(over <-chan struct{}) (slowest time.Duration) {
	for {
		begin := time.Now()
		c.other.release(c.b)
		c.other.notify(c.b, c.process)
		for c.other.lag() != "" {
			if time.Since(begin) > limit {
				c.b.Error("a tenant without a fault is not promoted")
				return limit
			}
			<-time.After(interval)
		}
		slowest = max(slowest, time.Since(begin))
		select {
		case <-over:
			return slowest
		case <-time.After(2 * time.Second):
		}
	}
}

// interval is how often the campaign checks what is done.
const interval = 250 * time.Millisecond

// settle waits until tenants are settled: their newest versions are promoted and the status
// is idle, without an error. It returns how long each took.
func (c *campaign) settle(tenants []*tenant) map[string]time.Duration {
	c.b.Helper()
	begin, settled := time.Now(), map[string]time.Duration{}
	for len(settled) < len(tenants) {
		states, err := c.process.Status(c.b)
		var left []string
		for _, w := range tenants {
			if settled[w.fault.name] != 0 {
				continue
			}
			lag := w.unsettled(states[w.name()], err)
			if lag == "" {
				settled[w.fault.name] = time.Since(begin)
				continue
			}
			left = append(left, w.fault.name+": "+lag)
		}
		if time.Since(begin) > limit && len(left) > 0 {
			c.b.Fatalf("not settled after %v:\n%s\nsettled: %v", limit, strings.Join(left, "\n"), settled)
		}
		<-time.After(interval)
	}
	return settled
}

// unsettled returns what is missing; empty: nothing.
func (w *tenant) unsettled(state api.Repository, err error) string {
	if err != nil {
		return err.Error()
	}
	if failed := cmp.Or(state.LastError, state.Failure); failed != "" {
		return fmt.Sprintf("%s (%d attempts, the next one in %v)", failed, state.Attempts, time.Until(state.NextRun).Round(time.Second))
	}
	if state.State != api.StateIdle {
		return fmt.Sprintf("%q", state.State)
	}
	return w.lag()
}
