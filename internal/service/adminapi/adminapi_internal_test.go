package adminapi

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/queue"
	"promoter/internal/server"
	"promoter/internal/store"
)

func TestRepositoriesOf(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	got := repositoriesOf(
		[]store.Repository{{Key: "github.com/1", Forge: "github", Host: "github.com", Name: "acme/gitops", ReconciledAt: at, Failure: "no config"}},
		map[string]queue.Entry{
			"github.com/1": {Key: "github.com/1", TriggeredAt: at, NotBefore: at.Add(time.Minute), Attempts: 3, LastError: "502", FailedAt: at},
			"github.com/2": {Key: "github.com/2", TriggeredAt: at},
			"github.com/3": {Key: "github.com/3", Owner: "host/1", Attempts: 1},
			"github.com/4": {Key: "github.com/4", NotBefore: at},
		})
	want := []server.Repository{
		{Name: "github.com/2", Key: "github.com/2", State: server.StateWaiting, WaitingSince: at},
		{Name: "github.com/3", Key: "github.com/3", State: server.StateRunning},
		{Name: "github.com/4", Key: "github.com/4", State: server.StateIdle, NextRun: at},
		{
			Name: "github.com/acme/gitops", Key: "github.com/1", Forge: "github", State: server.StateFailing, ReconciledAt: at, Failure: "no config",
			WaitingSince: at, NextRun: at.Add(time.Minute), Attempts: 3, LastError: "502", FailedAt: at,
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
