package demo

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

func TestAGitHostMovesBranchesFromWhereTheyWere(t *testing.T) {
	t.Parallel()
	s := newTestShow(t, nil)
	first, err := s.ann.push(t.Context(), tree{"a": "1"}, "Begin")
	if err != nil {
		t.Fatal(err)
	}
	g, err := startGitHost(t.Context(), s.hub, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.loopback.stop() })
	head, other := plumbing.NewHash(first), plumbing.ReferenceName("refs/heads/promoter/_state")
	for _, test := range []struct {
		name     string
		commands []*packp.Command
		refused  bool
		moved    int // how often so far
	}{
		{"a branch is made", []*packp.Command{{Name: other, New: head}}, false, 0},
		{"it is there already", []*packp.Command{{Name: other, New: head}}, true, 0},
		{"main was elsewhere", []*packp.Command{{Name: mainBranch, Old: plumbing.NewHash("1"), New: head}}, true, 0},
		{"one of two was elsewhere", []*packp.Command{{Name: mainBranch, Old: head, New: head}, {Name: "refs/heads/x", Old: head, New: head}}, true, 0},
		{"main moves", []*packp.Command{{Name: mainBranch, Old: head, New: head}}, false, 1},
		{"main moves again", []*packp.Command{{Name: mainBranch, Old: head, New: head}}, false, 2},
		{"a branch goes", []*packp.Command{{Name: other, Old: head}}, false, 2},
	} {
		err := g.push(t.Context(), test.commands)
		if (err != nil) != test.refused || len(g.moved) != test.moved {
			t.Errorf("%s: %v, main moved: %d", test.name, err, len(g.moved))
		}
	}
	if _, err := s.hub.repository.Reference(other, false); err == nil {
		t.Error("the branch is still there")
	}
}

// TestAGitHostNotifiesOfPushes checks the webhook, which the service verifies in the tests
// of cmd/promoter.
func TestAGitHostNotifiesOfPushes(t *testing.T) {
	t.Parallel()
	s := newTestShow(t, nil)
	signatures := make(chan string, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		signatures <- r.Header.Get("X-Gitea-Signature") + " " + string(body)
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(receiver.Close)
	s.git.notifyTo(receiver.Client(), receiver.URL, "secret")
	if _, err := s.ann.push(t.Context(), tree{"a": "1"}, "Begin"); err != nil {
		t.Fatal(err)
	}
	body := `{"repository":{"clone_url":"` + s.git.url() + `","full_name":"acme/gitops"}}`
	signature := hmac.New(sha256.New, []byte("secret"))
	signature.Write([]byte(body))
	if got, want := <-signatures, hex.EncodeToString(signature.Sum(nil))+" "+body; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if sent := s.git.sent(); len(sent) != 1 || sent[0].status != http.StatusAccepted {
		t.Errorf("%+v", sent)
	}
	receiver.Close()
	if _, err := s.ann.push(t.Context(), tree{"a": "2"}, "Change it"); err != nil {
		t.Errorf("a receiver that is gone stops a push: %v", err)
	}
}

// A service that pushes nothing breaks the promise of the step.
func TestPushed_givesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &service{journal: newJournal(), git: &gitHost{moved: make(chan time.Time)}, over: make(chan struct{})}
		if _, err := v.journal.Write([]byte("msg=reconciled\n")); err != nil {
			t.Fatal(err)
		}
		if _, err := v.pushed(t.Context()); err == nil || err.Error() != "promise broken: nothing was pushed: promoter serve prints\nmsg=reconciled" {
			t.Errorf("got %v", err)
		}
	})
}

func TestARequestThatIsNotPushedBreaksThePromise(t *testing.T) {
	t.Parallel()
	s := newTestShow(t, func(_ context.Context, out io.Writer, _ ...string) int {
		_, _ = io.WriteString(out, "recorded in promoter/_state as unverified: ann\n")
		return 0
	})
	if err := askOfService(t.Context(), s, "lost"); err == nil || !strings.Contains(err.Error(), "pushed nothing") {
		t.Errorf("error %v, want one about the push", err)
	}
}

// TestAServiceMayBeFasterThanTheCommand pushes to main before the command that requested it ends.
func TestAServiceMayBeFasterThanTheCommand(t *testing.T) {
	t.Parallel()
	var s *show
	s = newTestShow(t, func(ctx context.Context, out io.Writer, _ ...string) int {
		_, _ = io.WriteString(out, "recorded in promoter/_state as unverified: ann\n")
		if _, err := s.ann.push(ctx, s.want.tree(), "Begin"); err != nil { // in place of the state branch
			return 1
		}
		s.want.take("staging", s.after...)
		if _, err := s.ann.push(ctx, s.want.tree(), "Update staging"); err != nil {
			return 1
		}
		s.want.take("staging", s.before...)
		_, _ = io.WriteString(s.service.journal, "msg=pushed environment=staging\n")
		return 0
	})
	answers := make(chan int, 2)
	answers <- http.StatusAccepted        // to the request
	answers <- http.StatusTooManyRequests // to what the service pushes, which may be tried again
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(<-answers) }))
	t.Cleanup(receiver.Close)
	s.git.notifyTo(receiver.Client(), receiver.URL, "secret")
	s.before = []version{made("shop", "1.6.1", 17)}
	s.after = []version{made("shop", "1.7.0", 18)}
	if err := askOfService(t.Context(), s, "faster"); err != nil {
		t.Error(err)
	}
}
