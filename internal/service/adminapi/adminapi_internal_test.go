package adminapi

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/api"
	"promoter/internal/queue"
	"promoter/internal/service"
	"promoter/internal/store"
)

func TestRepositoriesOf(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	got := repositoriesOf(
		[]store.Repository{
			{Key: "github.com/7", Forge: "github", Host: "github.com", Name: "acme/partial", ReconciledAt: at, Failure: "propose in prod: 422", Failures: 2},
			{Key: "github.com/1", Forge: "github", Host: "github.com", Name: "acme/gitops", ReconciledAt: at, Failure: "no config"},
		},
		map[string]queue.Entry{
			"github.com/1": {Key: "github.com/1", TriggeredAt: at, NotBefore: at.Add(time.Minute), Attempts: 3, LastError: "502", FailedAt: at},
			"github.com/7": {Key: "github.com/7", NotBefore: at},
			"github.com/2": {Key: "github.com/2", TriggeredAt: at},
			"github.com/3": {Key: "github.com/3", Owner: "host/1", Attempts: 1},
			"github.com/4": {Key: "github.com/4", NotBefore: at},
			"github.com/5": {Key: "github.com/5", NotBefore: at, FailedAt: at, Attempts: 3, Crashes: 3},
			"github.com/6": {Key: "github.com/6", NotBefore: at, FailedAt: at, Attempts: 2, Crashes: 1, LastError: "502"},
		})
	want := []api.Repository{
		{Name: "github.com/2", Key: "github.com/2", State: api.StateWaiting, WaitingSince: at},
		{Name: "github.com/3", Key: "github.com/3", State: api.StateRunning},
		{Name: "github.com/4", Key: "github.com/4", State: api.StateIdle, NextRun: at},
		{
			Name: "github.com/5", Key: "github.com/5", State: api.StateFailing, NextRun: at, Attempts: 3, FailedAt: at, Crashes: 3,
			LastError: "its reconciliation was running when promoter stopped unexpectedly (3 times), so it is retried alone, and later each time",
		},
		{
			Name: "github.com/6", Key: "github.com/6", State: api.StateFailing, NextRun: at, Attempts: 2, FailedAt: at, Crashes: 1,
			LastError: "its reconciliation was running when promoter stopped unexpectedly (once), so it is retried alone, and later each time; " +
				"the last attempt: 502",
		},
		{
			Name: "github.com/acme/gitops", Key: "github.com/1", Forge: "github", State: api.StateFailing, ReconciledAt: at, Failure: "no config",
			WaitingSince: at, NextRun: at.Add(time.Minute), Attempts: 3, LastError: "502", FailedAt: at,
		},
		{
			Name: "github.com/acme/partial", Key: "github.com/7", Forge: "github", State: api.StateFailing, ReconciledAt: at,
			Failure: "propose in prod: 422", Attempts: 2, NextRun: at,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWithUnopened(t *testing.T) {
	t.Parallel()
	at, next := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), time.Date(2026, 3, 1, 12, 1, 0, 0, time.UTC)
	got := withUnopened(
		[]api.Repository{
			{Name: "github.com/acme/fine", Key: "github.com/1", Forge: "github", State: api.StateIdle, ReconciledAt: at},
			{Name: "github.com/acme/gone", Key: "github.com/2", Forge: "github", State: api.StateWaiting, ReconciledAt: at, WaitingSince: at},
		},
		[]service.Unopened{
			{Name: "github.com/acme/gone", Forge: "github", Err: errors.New("401"), Attempts: 3, At: at},
			{Name: "github.com/acme/blog", Forge: "github", Err: errors.New("no such host"), Attempts: 1, At: at},
		}, next)
	want := []api.Repository{
		{Name: "github.com/acme/blog", Forge: "github", State: api.StateFailing, NextRun: next, Attempts: 1, LastError: "no such host", FailedAt: at},
		{Name: "github.com/acme/fine", Key: "github.com/1", Forge: "github", State: api.StateIdle, ReconciledAt: at},
		{
			Name: "github.com/acme/gone", Key: "github.com/2", Forge: "github", State: api.StateFailing, ReconciledAt: at, WaitingSince: at,
			NextRun: next, Attempts: 3, LastError: "401", FailedAt: at,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDialAddress(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		":8080": "127.0.0.1:8080", "0.0.0.0:80": "127.0.0.1:80", "[::]:80": "127.0.0.1:80", "10.0.0.5:8080": "10.0.0.5:8080", "localhost:1": "localhost:1",
	} {
		if got := dialAddress(listen); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}
