package service

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"promoter/internal/database"
	"promoter/internal/evidence"
	"promoter/internal/fault"
	"promoter/internal/health"
	"promoter/internal/queue"
)

func (b *bench) pollHealth() (queue.Result, error) {
	return b.service.workers[KindHealth].Handler(b.t.Context(), queue.Item{Kind: KindHealth, Key: "argo"})
}

// deploys lets Argo CD list an Application, with a status, that deploys a repository.
func (b *bench) deploys(name, status string) {
	b.argo.Store(fmt.Sprintf(`{"metadata": {"resourceVersion": "7"}, "items": [
{"metadata": {"name": "web", "namespace": "argocd"}, "spec": {"source": {"repoURL": "%s/%s.git"}},
 "status": {"health": {"status": %q, "message": "at %[4]d"}, "sync": {"status": "Synced", "revision": "2222222222222222222222222222222222222222"}}},
{"metadata": {"name": "other", "namespace": "argocd"}, "spec": {"source": {"repoURL": "https://example.com/other/gitops"}}, "status": {}}]}`,
		b.github.URL(), name, status, b.registryRequests.Add(1)))
}

// usable returns what a repository may use.
func (b *bench) usable(name string) (found []string) {
	b.t.Helper()
	reports := newHealthReports(b.store, b.connections.Server, b.current().repositories[b.key(name)])
	all, err := reports.Reports(b.t.Context(), []string{"argo", "limited", "missing"})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, one := range all {
		found = append(found, one.Receiver+" "+one.Subject+" "+string(one.Status))
	}
	return found
}

// waits reports whether a repository was triggered.
func (b *bench) waits(key string) bool {
	b.t.Helper()
	entries, err := b.service.queue.Entries(b.t.Context(), KindRepository, "", 10)
	if err != nil {
		b.t.Fatal(err)
	}
	return slices.ContainsFunc(entries, func(e queue.Entry) bool { return e.Key == key && !e.TriggeredAt.IsZero() })
}

func TestHealthPoll_triggersWhatChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.key("acme/one")
	b.deploys("acme/one", "Healthy")
	result, err := b.pollHealth()
	if err != nil || !result.Next.After(b.clock.Now().Add(time.Minute-time.Second)) {
		t.Fatalf("%+v, %v", result, err)
	}
	if found := b.usable("acme/one"); len(found) != 0 {
		t.Errorf("before the repository is known: %v", found)
	}
	if _, err := b.reconcile(one); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		status, want string
		triggers     bool
	}{
		{"Healthy", "argo argocd/web Healthy", true},
		{"Healthy", "argo argocd/web Healthy", false},
		{"Degraded", "argo argocd/web Degraded", true},
	} {
		b.deploys("acme/one", step.status)
		if _, err := b.pollHealth(); err != nil {
			t.Fatal(err)
		}
		if found := strings.Join(b.usable("acme/one"), ", "); found != step.want {
			t.Errorf("%s: %s", step.status, found)
		}
		if got := b.waits(one); got != step.triggers {
			t.Errorf("%s triggers: %v", step.status, got)
		}
		b.runWaiting()
		b.clock.Add(time.Minute)
	}
	if found := b.usable("acme/two"); len(found) != 0 {
		t.Errorf("another repository: %v", found)
	}
}

// runWaiting ends the work that waits, as a worker does.
func (b *bench) runWaiting() {
	b.t.Helper()
	claimed, err := b.service.queue.Claim(b.t.Context(), queue.ClaimOptions{Kind: KindRepository, Limit: 10, Lease: time.Minute})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, item := range claimed.Items {
		if err := b.service.queue.Done(b.t.Context(), item, queue.Result{}); err != nil {
			b.t.Fatal(err)
		}
	}
}

func TestHealthPoll_reportsWhatArgoCDRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.argo.Store("<html>login</html>")
	if _, err := b.pollHealth(); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "what answers is not the API of Argo CD") {
		t.Errorf("%v", err)
	}
	if result, err := b.service.workers[KindHealth].Handler(t.Context(), queue.Item{Kind: KindHealth, Key: "removed"}); err != nil || !result.Forget {
		t.Errorf("a receiver that was removed: %+v, %v", result, err)
	}
}

// A receiver that lists repositories reports to no other one.
func TestHealthReports_areOfReceiversThatListTheRepository(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	err := b.service.db.Update(t.Context(), func(ctx context.Context, tx *database.Tx) error {
		return b.store.Health.SaveReports(ctx, tx, []evidence.Report{
			{Health: health.Report{Source: health.Flux, Receiver: "limited", Subject: "kustomization/a/b", Status: health.Healthy}},
			{Health: health.Report{Source: health.Flux, Receiver: "missing", Subject: "kustomization/a/b", Status: health.Healthy}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"acme/one": "", "acme/two": "limited kustomization/a/b Healthy"} {
		if got := strings.Join(b.usable(name), ", "); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
