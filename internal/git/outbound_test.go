package git_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/git"
	"promoter/internal/outbound"
	"promoter/internal/secret"
)

// guardedClient is what promoter hands in: the guarded client.
func guardedClient(t *testing.T, loopback bool) *http.Client {
	t.Helper()
	client, err := outbound.New(outbound.Options{AllowLoopback: loopback, Attempts: 1, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return &http.Client{Transport: client}
}

func TestHTTP_throughTheGuard(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	main := o.commit("main", many(30))
	web := o.serve()
	web.guarded("Bearer " + token)
	remote := web.remote()
	remote.HTTP = guardedClient(t, true)
	remote.Credential = with(git.Credential{Bearer: secret.New(token)})
	m := opened(t, remote)
	fetched(t, m, "main")
	same(t, m, o, main)
	next := written(t, m, main, files{"a.yaml": "a\n"})
	if err := m.Push(t.Context(), git.Update{Branch: "main", Old: main, New: next}); err != nil {
		t.Error(err)
	}
	web.instead(func(rw http.ResponseWriter, _ *http.Request) bool {
		rw.Header().Set("Retry-After", "3600")
		http.Error(rw, "slow down", http.StatusTooManyRequests)
		return true
	})
	_, err := m.List(t.Context())
	if at, ok := fault.RetryAt(err); fault.KindOf(err) != fault.RateLimited || !ok || at.Before(epoch) {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}

	remote.HTTP = guardedClient(t, false)
	_, err = opened(t, remote).List(t.Context())
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "plain http") {
		t.Errorf("%v: %v", fault.KindOf(err), err)
	}
	unseen(t, err)
}
