package github_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/github"
	"promoter/internal/scm/github/githubtest"
)

const tokenRoute = "POST /app/installations/{id}/access_tokens"

func newInstalled(t *testing.T) (*appWorld, *githubtest.Installation, *github.Installed) {
	t.Helper()
	w := newAppWorld(t)
	w.NewRepository("acme/gitops", nil)
	installed := w.of.Install("acme")
	return w, installed, use(t, w.app, installed)
}

func open(t *testing.T, forge *github.Installed) error {
	t.Helper()
	_, err := forge.Open(t.Context(), "acme/gitops")
	return err
}

// Every caller gets a token that is valid for at least ten more minutes.
func TestTokens_renewedBeforeTheirEnd(t *testing.T) {
	t.Parallel()
	w, _, forge := newInstalled(t)
	seen, opened := map[string]bool{}, 0
	for minute := 0; minute < 200; minute += 7 {
		opened++
		token, err := forge.Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen[token.Reveal()] = true
		if err := open(t, forge); err != nil {
			t.Fatalf("after %d minutes: %v", minute, err)
		}
		w.clock.pass(7 * time.Minute)
	}
	if n := w.Traffic.Requests()[tokenRoute]; n != 4 || len(seen) != 4 {
		t.Errorf("%d tokens were asked for, %d used", n, len(seen))
	}
	if n := w.Traffic.Requests()["GET /repos/{owner}/{repo}"]; n != opened {
		t.Errorf("%d requests for %d questions: some were refused", n, opened)
	}
}

func TestTokens_oneRenewalForAllWhoWait(t *testing.T) {
	t.Parallel()
	w, _, forge := newInstalled(t)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if err := open(t, forge); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := w.Traffic.Requests()[tokenRoute]; n != 1 {
		t.Errorf("%d tokens were asked for", n)
	}
}

// A caller whose context ends stops waiting; the others get their token.
func TestTokens_waitingEnds(t *testing.T) {
	t.Parallel()
	w, _, forge := newInstalled(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	w.Traffic.Watch(func(route string) {
		if route == tokenRoute {
			close(asked)
			<-answer
		}
	})
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := forge.Token(t.Context()); err != nil {
			t.Error(err)
		}
	})
	<-asked
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := forge.Token(gone); err == nil {
		t.Error("who went away got a token")
	}
	close(answer)
	group.Wait()
}

// A token that worked and is rejected is replaced once; the request is repeated, with
// its body.
func TestTokens_revoked(t *testing.T) {
	t.Parallel()
	w, installed, forge := newInstalled(t)
	repository, err := forge.Open(t.Context(), "acme/gitops")
	if err != nil {
		t.Fatal(err)
	}
	installed.RevokeTokens()
	w.Repository("acme/gitops").Git.Commit("ann", "promoter/dev/default", "Update", map[string]string{"a.yaml": "a: 2\n"})
	draft := scm.Draft{Head: "promoter/dev/default", Base: "main", Title: "Promote web", Body: "text"}
	if _, err := repository.PullRequests().Create(t.Context(), draft); err != nil {
		t.Fatal(err)
	}
	if pulls := w.Repository("acme/gitops").Pulls.All(); len(pulls) != 1 || pulls[0].Title != draft.Title || pulls[0].Author != "promoter[bot]" {
		t.Errorf("pull requests: %+v", pulls)
	}
	if n := w.Traffic.Requests()[tokenRoute]; n != 2 {
		t.Errorf("%d tokens were asked for", n)
	}
}

// Several requests are rejected at once: each is repeated, with one new token for
// all.
func TestTokens_revokedUnderMany(t *testing.T) {
	t.Parallel()
	const many = 5
	w, installed, forge := newInstalled(t)
	if err := open(t, forge); err != nil {
		t.Fatal(err)
	}
	installed.RevokeTokens()
	var arrived atomic.Int64
	all := make(chan struct{})
	w.Traffic.Watch(func(route string) {
		if route != "GET /repos/{owner}/{repo}" {
			return
		}
		if arrived.Add(1) == many {
			close(all)
		}
		<-all
	})
	var group sync.WaitGroup
	for range many {
		group.Go(func() {
			if err := open(t, forge); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := w.Traffic.Requests()[tokenRoute]; n != 2 {
		t.Errorf("%d tokens were asked for", n)
	}
}

// If GitHub rejects every token, the number of token requests is bounded.
func TestTokens_refusedEachTime(t *testing.T) {
	t.Parallel()
	w, installed, forge := newInstalled(t)
	if err := open(t, forge); err != nil {
		t.Fatal(err)
	}
	w.Traffic.Watch(func(route string) {
		if route == "GET /repos/{owner}/{repo}" {
			installed.RevokeTokens()
		}
	})
	for range 5 {
		if err := open(t, forge); fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "Bad credentials") {
			t.Errorf("got %v", err)
		}
	}
	if n := w.Traffic.Requests()[tokenRoute]; n != 2 {
		t.Errorf("%d tokens were asked for", n)
	}
}

func TestTokens_suspendedAndRemoved(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		happens func(*githubtest.Installation)
		kind    fault.Kind
		words   string
	}{
		"suspended": {(*githubtest.Installation).Suspend, fault.Unauthorized, "the installation of the App at acme is suspended: an owner of acme lets it work again at"},
		"removed":   {(*githubtest.Installation).Remove, fault.NotFound, "the App was removed from acme"},
	} {
		for _, first := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w, installed, forge := newInstalled(t)
				if !first {
					if err := open(t, forge); err != nil {
						t.Fatal(err)
					}
				}
				test.happens(installed)
				_ = open(t, forge) // fails with GitHub's message
				before := w.Traffic.Requests()
				if err := open(t, forge); fault.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.words) {
					t.Errorf("got %v", err)
				}
				if _, err := forge.Token(t.Context()); fault.KindOf(err) != test.kind {
					t.Errorf("Git gets %v", err)
				}
				if after := w.Traffic.Requests(); len(after) != len(before) || after[tokenRoute] != before[tokenRoute] {
					t.Errorf("asked on: %v, before %v", after, before)
				}
			})
		}
	}
}

// Temporary errors are not cached.
func TestTokens_serverError(t *testing.T) {
	t.Parallel()
	w, _, forge := newInstalled(t)
	w.Fail(tokenRoute, http.StatusBadGateway, "Server Error")
	if err := open(t, forge); fault.KindOf(err) != fault.Temporary {
		t.Errorf("got %v", err)
	}
	if err := open(t, forge); err != nil {
		t.Errorf("the next time: %v", err)
	}
}

// A permission that was revoked after the installation was read.
func TestTokens_permissionIsGone(t *testing.T) {
	t.Parallel()
	_, installed, forge := newInstalled(t)
	installed.Permit(without(granted(), "contents"))
	if err := open(t, forge); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "permissions requested are not granted") {
		t.Errorf("got %v", err)
	}
}
