package service

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm/github/githubtest"
	"promoter/internal/workspace"
)

// Only one of several replicas polls. The others must not use for ever what they read of
// registries.
func TestRefresher_refreshesWithoutAPoll(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.current()
	b.clock.Add(5 * time.Minute)
	if b.current() != first {
		t.Error("a refresh is not shared until the next poll")
	}
	b.clock.Add(2 * time.Minute)
	second := b.current()
	if second == first {
		t.Error("a refresh is used for ever in a replica that does not poll")
	}
	if b.current() != second {
		t.Error("each reconciliation refreshes")
	}
}

// A repository that cannot be opened for now stays stored with its subscriptions, also
// when a webhook triggers it.
func TestReconcile_keepsWhatCannotBeOpened(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.poll()
	key := b.key("acme/two")
	if _, err := b.reconcile(key); err != nil {
		t.Fatal(err)
	}
	b.github.Revoke(b.currentToken())
	b.clock.Add(6 * time.Minute)
	b.poll()
	for range 2 {
		if _, err := b.reconcile(key); fault.KindOf(err) != fault.Temporary {
			t.Errorf("a repository that cannot be opened: %v", err)
		}
		if !b.isStored(key) {
			t.Fatal("the repository was deleted")
		}
		b.clock.Add(2 * time.Minute)
	}
	b.replaceToken()
	b.clock.Add(4 * time.Minute)
	b.poll()
	if _, err := b.reconcile(key); err != nil {
		t.Error(err)
	}
	b.two.Settings.Remove()
	b.clock.Add(6 * time.Minute)
	b.poll() // triggers it once more
	if result, err := b.reconcile(key); err != nil || !result.Forget {
		t.Errorf("a deleted repository: %+v, %v", result, err)
	}
	if b.isStored(key) {
		t.Error("a deleted repository is still stored")
	}
}

// What cannot be opened is reported with its error and the number of attempts, until it
// can be opened again.
func TestRefresher_reportsWhatCannotBeOpened(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.poll()
	if got := b.service.Unopened(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	b.github.Revoke(b.currentToken())
	host := strings.TrimPrefix(b.github.URL(), "http://")
	for attempt := 1; attempt <= 2; attempt++ {
		b.clock.Add(6 * time.Minute)
		b.poll()
		got := b.service.Unopened()
		if len(got) != 2 || got[0].Name != host+"/acme/one" || got[0].Attempts != attempt || !got[0].At.Equal(b.clock.Now()) ||
			fault.KindOf(got[0].Err) != fault.Unauthorized {
			t.Errorf("attempt %d: %+v", attempt, got)
		}
	}
	b.replaceToken()
	b.clock.Add(6 * time.Minute)
	b.poll()
	if got := b.service.Unopened(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// Work that waits for the refresh of other work obeys its own context.
func TestRefresher_waitsWithItsContext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.service.refresher.refreshing <- struct{}{}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("it took too long"))
	defer cancel()
	if _, _, err := b.service.refresher.acquire(ctx); err == nil || err.Error() != "it took too long" {
		t.Errorf("a refresh during another one: %v", err)
	}
	<-b.service.refresher.refreshing
	b.current()
}

// Another repository gets the name of one that was deleted. It is not reconciled under
// the key of the old one, whose credentials and users it does not have.
func TestReconcile_anotherRepositoryOfTheName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.poll()
	before := b.key("acme/two")
	if _, err := b.reconcile(before); err != nil {
		t.Fatal(err)
	}
	b.two.Settings.Remove()
	b.github.NewRepository("acme/two", map[string]string{"README": "another"}).Settings.Permit(githubtest.Self, "write")
	if result, err := b.reconcile(before); err != nil || !result.Forget || b.isStored(before) {
		t.Errorf("the key of the old repository: %+v, %v", result, err)
	}
	b.clock.Add(6 * time.Minute)
	b.poll()
	if after := b.key("acme/two"); after == before {
		t.Error("the other repository has the same key")
	} else if _, err := b.reconcile(after); err != nil {
		t.Error(err)
	}
}

// However many webhooks report that repositories come and go, all repositories are
// requested at most once in 30 seconds.
func TestPoll_limitsRefreshes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.current() // of a reconciliation that came first
	b.github.Traffic.ResetRequests()
	b.poll()
	if got := b.github.Traffic.Requests(); len(got) > 0 {
		t.Errorf("the first poll refreshes again: %v", got)
	}
	for range 5 {
		b.clock.Add(5 * time.Second)
		next := b.poll()
		if got := b.github.Traffic.Requests(); len(got) > 0 || next.Sub(b.clock.Now()) > time.Minute {
			t.Errorf("the next poll is in %v, with the requests %v", next.Sub(b.clock.Now()), got)
		}
	}
	b.clock.Add(10 * time.Second)
	b.poll()
	if got := b.github.Traffic.Requests(); len(got) == 0 {
		t.Error("a poll after 30 seconds does not refresh")
	}
}

// A panic in a reconciliation releases the mirror: the next one would wait for it.
func TestWorkspace_panicReleasesTheMirror(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	current := b.current()
	one := current.repositories[b.key("acme/one")]
	var held *workspace.Workspace // so that nothing else closes what it has open
	defer func() { runtime.KeepAlive(held) }()
	func() {
		defer func() { _ = recover() }()
		_ = workspace.Use(t.Context(), current.session, one, workspace.Options{}, func(_ context.Context, w *workspace.Workspace) error {
			held = w
			panic("a defect")
		})
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := workspace.Use(ctx, current.session, one, workspace.Options{}, func(context.Context, *workspace.Workspace) error { return nil }); err != nil {
		t.Error(err)
	}
}
