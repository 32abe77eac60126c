package demo

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// audience is a receiver that records notifications.
type audience struct {
	mutex  sync.Mutex
	status int
	bodies []string
	proofs []string
}

func (r *audience) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	text, _ := io.ReadAll(req.Body)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.bodies, r.proofs = append(r.bodies, string(text)), append(r.proofs, req.Header.Get("Authorization"))
	w.WriteHeader(r.status)
	_, _ = io.WriteString(w, "thanks\n")
}

func TestARegistryTellsOfPushes(t *testing.T) {
	t.Parallel()
	receiver := &audience{status: http.StatusAccepted}
	server := httptest.NewServer(receiver)
	t.Cleanup(server.Close)
	s := newTestShow(t, nil)
	push := func(application, tag string) version {
		t.Helper()
		published, err := s.registry.publish(t.Context(), made(application, tag, 2))
		if err != nil {
			t.Fatal(err)
		}
		return published[0]
	}
	push("shop", "1.0.0")
	if !s.registry.last().at.IsZero() {
		t.Error("a webhook was sent before there was a receiver")
	}
	s.registry.notifyTo(server.Client(), server.URL, "gate-7")
	pushed := push("shop", "1.1.0")
	last := s.registry.last()
	if last.status != http.StatusAccepted || last.answer != "thanks" || last.repository != "acme/shop" || last.tag != "1.1.0" || last.at.IsZero() {
		t.Errorf("sent %+v", last)
	}
	if len(receiver.bodies) != 1 || receiver.proofs[0] != "Bearer gate-7" {
		t.Fatalf("sent %q with %q", receiver.bodies, receiver.proofs)
	}
	for _, part := range []string{`"action":"push"`, `"repository":"acme/shop"`, `"tag":"1.1.0"`, `"host":"` + s.registry.loopback.host + `"`, pushed.digest, "manifest"} {
		if !strings.Contains(receiver.bodies[0], part) {
			t.Errorf("%q is not in %s", part, receiver.bodies[0])
		}
	}
	server.Close()
	push("shop", "1.2.0")
	if last = s.registry.last(); last.status != 0 || !strings.Contains(last.answer, "connect") {
		t.Errorf("a receiver that is gone: %+v", last)
	}
}

func TestAJournalWaitsForALine(t *testing.T) {
	t.Parallel()
	j, over := newJournal(), make(chan struct{})
	go func() {
		for _, part := range []string{"a\nlist", "ening at=1", "\nb\n"} {
			_, _ = io.WriteString(j, part)
		}
	}()
	lines, err := j.next(t.Context(), over, `^listening at=\d$`)
	if err != nil || strings.Join(lines, " ") != "a listening at=1" {
		t.Errorf("got %q, %v", lines, err)
	}
	if lines, err = j.next(t.Context(), over, `b`); err != nil || len(lines) != 1 {
		t.Errorf("got %q, %v", lines, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.next(ctx, over, `b`); err == nil {
		t.Error("an interruption does not end it")
	}
	close(over)
	if _, err := j.next(t.Context(), over, `c`); !errors.Is(err, errOver) || j.all() != "a\nlistening at=1\nb" {
		t.Errorf("a service that ended: %v", err)
	}
}
