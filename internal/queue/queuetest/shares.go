package queuetest

import (
	"context"
	"fmt"
	"testing"

	"promoter/internal/database/databasetest"
	"promoter/internal/queue"
)

// ofTenant returns triggers of keys that begin with the name of the tenant.
func ofTenant(tenant string, n int, urgent bool) []queue.Trigger {
	var all []queue.Trigger
	for i := range n {
		all = append(all, queue.Trigger{Kind: "repository", Key: fmt.Sprint(tenant, "-", i), Tenant: tenant, Urgent: urgent})
	}
	return all
}

var shares = map[string]func(*testing.T, databasetest.Kind){
	"work of one tenant does not wait for another one's": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		began, end := make(chan string, 2000), make(chan bool)
		defer close(end)
		p.run(4, queue.Options{}, func(_ context.Context, item queue.Item) (queue.Result, error) {
			began <- item.Tenant
			<-end // the slowest registry
			return queue.Result{}, nil
		})
		p.triggerAll(ofTenant("many", 1000, true)...)
		for range 3 {
			until(p, "a run of many", began)
		}
		p.triggerAll(ofTenant("few", 1, false)...)
		if got := until(p, "the other tenant", began); got != "few" {
			t.Errorf("a run of %s", got)
		}
	},
	"urgent work comes first, also while slow work runs": func(t *testing.T, kind databasetest.Kind) {
		p := single(t, kind)
		began, end := make(chan string, 2000), make(chan bool)
		defer close(end)
		p.run(4, queue.Options{}, func(_ context.Context, item queue.Item) (queue.Result, error) {
			began <- item.Key
			<-end
			return queue.Result{}, nil
		})
		for _, tenant := range []string{"a", "b", "c", "d", "e"} {
			p.triggerAll(ofTenant(tenant, 10, false)...)
		}
		for range 3 {
			until(p, "a poll", began)
		}
		p.triggerAll(ofTenant("f", 1, true)...)
		if got := until(p, "the event", began); got != "f-0" {
			t.Errorf("a run of %s", got)
		}
	},
	"a trigger keeps the tenant of its row": func(t *testing.T, kind databasetest.Kind) {
		b := newBench(t, kind)
		b.triggerAll(queue.Trigger{Kind: "repository", Key: "a", Tenant: "acme"})
		b.triggerAll(queue.Trigger{Kind: "repository", Key: "a", Urgent: true})
		item := b.one()
		if item.Tenant != "acme" || !item.Urgent {
			t.Errorf("item %+v", item)
		}
		b.must(b.Done(t.Context(), item, queue.Result{Next: b.clock.Now()}))
		if item := b.one(); item.Tenant != "acme" || item.Urgent {
			t.Errorf("item of the schedule %+v", item)
		}
	},
}
