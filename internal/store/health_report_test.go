package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/database"
	"promoter/internal/event"
	"promoter/internal/evidence"
	"promoter/internal/health"
	"promoter/internal/store"
)

var observed = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

func report(source, receiver, subject string, status health.Status, at time.Time, repositories ...string) evidence.Report {
	r := evidence.Report{Health: health.Report{Source: source, Receiver: receiver, Subject: subject, Status: status, At: at, Revisions: []string{"abc"}, Message: "it's {\"x\"}"}}
	for _, name := range repositories {
		r.Repositories = append(r.Repositories, event.Repository{Host: "github.com", Name: name})
	}
	return r
}

func (b bench) saveReports(reports ...evidence.Report) {
	b.Helper()
	b.write(func(ctx context.Context, tx *database.Tx) error { return b.Health.SaveReports(ctx, tx, reports) })
}

// reports returns what a repository may use: RECEIVER SUBJECT STATUS.
func (b bench) reports(repository string, receivers ...string) (found []string) {
	b.Helper()
	all, err := b.Health.Reports(b.Context(), receivers, []event.Repository{{Host: "GitHub.com", Name: repository}})
	if err != nil {
		b.Fatal(err)
	}
	for _, one := range all {
		found = append(found, one.Receiver+" "+one.Subject+" "+string(one.Status))
	}
	return found
}

func TestReports_olderNeverReplaceNewer(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		want := report(health.Flux, "hook", "kustomization/a/b", health.Degraded, observed)
		b.saveReports(want, report(health.Flux, "hook", "kustomization/a/b", health.Healthy, observed.Add(-time.Second)))
		b.saveReports(report(health.Flux, "hook", "kustomization/a/b", health.Healthy, observed.Add(-time.Minute)))
		all, err := b.Health.Reports(b.Context(), []string{"hook"}, nil)
		if diff := cmp.Diff([]health.Report{want.Health}, all); diff != "" || err != nil {
			b.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

func TestReports_ofTheFutureAreOfNow(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.saveReports(report(health.Flux, "hook", "kustomization/a/b", health.Healthy, time.Now().Add(time.Hour)))
		b.saveReports(report(health.Flux, "hook", "kustomization/a/b", health.Degraded, time.Time{}))
		all, err := b.Health.Reports(b.Context(), []string{"hook"}, nil)
		if err != nil || len(all) != 1 || all[0].Status != health.Degraded || all[0].At.After(time.Now().Add(time.Minute)) {
			b.Errorf("%+v, %v", all, err)
		}
	})
}

func TestReports_areSeenByTheirRepositoriesOnly(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.saveReports(
			report(health.ArgoCD, "argo", "argocd/web", health.Healthy, observed, "acme/gitops", "acme/values"),
			report(health.API, "ci", "staging", health.Healthy, observed, "acme/gitops"),
			report(health.API, "ci", "staging", health.Degraded, observed, "other/gitops"),
			report(health.Flux, "flux", "kustomization/a/b", health.Healthy, observed),
		)
		for _, c := range []struct {
			repository string
			receivers  []string
			want       []string
		}{
			{"Acme/GitOps", []string{"argo", "ci", "flux"}, []string{"argo argocd/web Healthy", "ci staging Healthy", "flux kustomization/a/b Healthy"}},
			{"acme/values", []string{"argo", "ci"}, []string{"argo argocd/web Healthy"}},
			{"other/gitops", []string{"argo", "ci"}, []string{"ci staging Degraded"}},
			{"acme/gitops", nil, nil},
		} {
			if diff := cmp.Diff(c.want, b.reports(c.repository, c.receivers...)); diff != "" {
				b.Errorf("%s of %v (-want +got):\n%s", c.repository, c.receivers, diff)
			}
		}
	})
}

func TestReports_changedOnesOnly(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		one, two := report(health.ArgoCD, "argo", "a", health.Healthy, observed, "acme/a"), report(health.ArgoCD, "argo", "b", health.Healthy, observed, "acme/a")
		b.saveReports(one, two)
		one.Health.At = observed.Add(time.Hour)
		two.Health.Status = health.Degraded
		b.write(func(ctx context.Context, tx *database.Tx) error {
			changed, err := b.Health.ChangedReports(ctx, tx, "argo", []evidence.Report{one, two, report(health.ArgoCD, "argo", "c", health.Healthy, observed, "acme/a")})
			var subjects []string
			for _, r := range changed {
				subjects = append(subjects, r.Health.Subject)
			}
			if diff := cmp.Diff([]string{"b", "c"}, subjects); diff != "" {
				b.Errorf("changed (-want +got):\n%s", diff)
			}
			return err
		})
	})
}

func TestReports_areBounded(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		for n := range 5 {
			b.saveReports(report(health.Flux, "hook", fmt.Sprint("kustomization/a/", n), health.Healthy, observed))
		}
		if n, err := b.Health.TrimReports(b.Context(), 3); n != 2 || err != nil {
			b.Errorf("trimmed %d, %v", n, err)
		}
		if n, err := b.Health.DeleteReportsBefore(b.Context(), time.Now().Add(time.Hour)); n != 3 || err != nil {
			b.Errorf("deleted %d, %v", n, err)
		}
	})
}

func TestSubscribers_ofHealth(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		b.setSubscriptions("github.com/1", store.Subscription{Health: store.Health{Receiver: "hook", Subject: "Kustomization/flux-system/Web"}})
		b.setSubscriptions("github.com/2", store.Subscription{Health: store.Health{Receiver: "another", Subject: "kustomization/flux-system/web"}})
		b.write(func(ctx context.Context, tx *database.Tx) error {
			_, err := b.RecordReconciliation(ctx, tx, store.Repository{Key: "github.com/3", Host: "github.com", Name: "acme/gitops"}, store.HistoryUpdate{})
			return err
		})
		for subject, want := range map[string]string{"kustomization/flux-system/web": "github.com/1", "kustomization/flux-system/api": ""} {
			if got := strings.Join(b.subscribers(event.Event{Kind: event.KindHealth, Subject: subject}), " "); got != want {
				b.Errorf("%s: %q, want %q", subject, got, want)
			}
		}
		named := event.Event{Kind: event.KindHealth, Subject: "argocd/web", Repository: event.Repository{Host: "github.com", Name: "acme/gitops"}}
		if got := strings.Join(b.subscribers(named), " "); got != "github.com/3" {
			b.Errorf("by repository: %q", got)
		}
	})
}

func TestHealthStates_areKeptByTarget(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		key := health.Key{Commit: "c1", Context: "promoter/health/staging"}
		want := map[health.Key]health.State{key: {Status: health.Healthy, Since: observed, HealthySince: observed, Message: "ok"}}
		other := health.Key{Commit: "c1", Context: "promoter/health/prod"}
		for _, err := range []error{
			b.Health.SaveStates(b.Context(), "github.com/1", map[health.Key]health.State{key: {Status: health.Degraded, Since: observed}}),
			b.Health.SaveStates(b.Context(), "github.com/1", want),
			b.Health.SaveStates(b.Context(), "github.com/2", map[health.Key]health.State{other: {Status: health.Degraded, Since: observed}}),
			b.Health.SaveStates(b.Context(), "github.com/1", nil),
		} {
			if err != nil {
				b.Fatal(err)
			}
		}
		read := func() map[health.Key]health.State {
			got, err := b.Health.States(b.Context(), "github.com/1", []health.Key{key, key, other, {Commit: "c2", Context: key.Context}})
			if err != nil {
				b.Fatal(err)
			}
			return got
		}
		if diff := cmp.Diff(want, read()); diff != "" {
			b.Errorf("(-want +got):\n%s", diff)
		}
		for n := range 30 {
			if err := b.Health.SaveStates(b.Context(), "github.com/1", map[health.Key]health.State{{Commit: fmt.Sprint("n", n), Context: key.Context}: {Status: health.Healthy}}); err != nil {
				b.Fatal(err)
			}
		}
		if got := read(); len(got) != 0 {
			b.Errorf("after thirty newer ones: %v", got)
		}
	})
}
