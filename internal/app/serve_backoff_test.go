package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"promoter/internal/api"
)

// status is the status of the service.
func (w *served) status() api.Status {
	w.t.Helper()
	status, err := w.client(serveToken).Status(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return status
}

// A registry that asks for a pause gets no requests until its end: from no
// reconciliation, no poll, which refreshes, and no webhook. The forge gets its requests
// as usual, and the status shows the reason.
func TestServe_backoffOutlivesRefreshes(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", reviewed)
	w := serveAs(t, s, serving{quiet: -1, poll: "5m"})
	s.release("web", "1.1.0")
	s.registry.Replace(func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Retry-After", "1800")
		response.WriteHeader(http.StatusTooManyRequests)
	})
	w.wait(6 * time.Minute)
	w.until("reconcile error")
	w.until("reconciled")
	until := s.clock.Now().Add(30 * time.Minute)
	s.registry.Replace(nil) // the registry works again, but gets no requests yet
	w.registry.Forget()
	w.polled()
	w.notify("web:1.1.0")
	w.until("reconciled")
	w.polled()
	if web, worker := s.registry.RequestsFor("acme/web"), s.registry.RequestsFor("acme/worker"); web+worker != 0 {
		t.Errorf("in the pause %d questions about web, %d about worker", web, worker)
	}
	status := w.status()
	if len(status.Backoffs) != 1 || status.Backoffs[0].Host != s.host || status.Backoffs[0].Peer != "registry" || status.Backoffs[0].Until.Sub(until).Abs() > time.Minute {
		t.Errorf("pauses %+v, want until %v", status.Backoffs, until)
	}
	if failure := status.Repositories[0].Failure; !strings.Contains(failure, "limits requests until") {
		t.Errorf("the failure is %q", failure)
	}
	if text := w.metrics(); !strings.Contains(text, `promoter_host_backoff_seconds{host="`+s.host+`",peer="registry"}`) {
		t.Error("the metrics do not tell")
	}
	w.wait(until.Sub(s.clock.Now()) + time.Minute)
	w.until("opened")
	s.holds("dev", "1.1.0 1.0.0")
	if status := w.status(); len(status.Backoffs) != 0 {
		t.Errorf("in the end: %+v", status.Backoffs)
	}
	w.stop()
}

// The status shows when the poll and each schedule fired, and when they fire next.
func TestServe_statusOfSchedules(t *testing.T) {
	t.Parallel()
	s := newStory(t, "github", scheduled)
	w := serveAs(t, s, serving{quiet: -1, poll: "5m"})
	w.wait(6 * time.Minute)
	status := w.status()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	// The poll has fired, and its work has ended, which stores when it fires next.
	for deadline := time.After(patience); len(status.Schedules) != 2 || s.clock.Now().Sub(status.Schedules[1].Last) > time.Minute || !status.Schedules[1].Next.After(status.Schedules[1].Last); {
		select {
		case <-tick.C:
			status = w.status()
		case <-deadline:
			t.Fatalf("%+v", status.Schedules)
		}
	}
	six, poll := status.Schedules[0], status.Schedules[1]
	if six.Schedule != "0 6 * * * Europe/Berlin" || six.Repositories != 1 || !six.Next.Equal(s.clock.Now().Add(s.untilSix()).Round(time.Minute)) || six.Last.After(s.clock.Now()) {
		t.Errorf("%+v", six)
	}
	if left := poll.Next.Sub(s.clock.Now()); poll.Schedule != "poll" || poll.Repositories != 1 || s.clock.Now().Sub(poll.Last) > time.Minute || left < 4*time.Minute || left > 6*time.Minute {
		t.Errorf("%+v", poll)
	}
	w.stop()
}
