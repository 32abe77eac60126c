package health_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/health"
)

var at = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

func TestState_isTheWorstOfTheReports(t *testing.T) {
	t.Parallel()
	got := health.State{}.Next([]health.Report{
		{Subject: "a", Status: health.Healthy, Sync: health.Synced, At: at},
		{Subject: "b", Status: health.Degraded, Sync: health.Synced, At: at.Add(time.Minute), Message: "pod crashes"},
		{Subject: "c", Status: health.Progressing, At: at},
	})
	want := health.State{Status: health.Degraded, Sync: health.Synced, Since: at.Add(time.Minute), UnhealthySince: at.Add(time.Minute), Message: "pod crashes", Subject: "b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestState_isHealthySinceTheLastObjectIs(t *testing.T) {
	t.Parallel()
	got := health.State{}.Next([]health.Report{
		{Subject: "a", Status: health.Healthy, At: at.Add(time.Hour)}, {Subject: "b", Status: health.Healthy, At: at},
	})
	if !got.IsHealthy() || !got.Since.Equal(at.Add(time.Hour)) {
		t.Errorf("got %s since %s", got, got.Since)
	}
}

func TestState_keepsSinceWhileTheStatusStays(t *testing.T) {
	t.Parallel()
	healthy := health.State{Status: health.Healthy, Since: at, HealthySince: at}
	if got := healthy.Next([]health.Report{{Status: health.Healthy, At: at.Add(time.Hour)}}); !got.Since.Equal(at) {
		t.Errorf("since %s", got.Since)
	}
	if got := healthy.Next(nil); got != healthy {
		t.Errorf("without reports: %+v", got)
	}
	degraded := healthy.Next([]health.Report{{Status: health.Degraded, At: at.Add(time.Hour)}})
	if got := degraded.Next([]health.Report{{Status: health.Healthy, At: at.Add(2 * time.Hour)}}); !got.Since.Equal(at.Add(2 * time.Hour)) {
		t.Errorf("healthy again since %s", got.Since)
	}
}

func TestState_onlyDegradedAndMissingEndHealthySince(t *testing.T) {
	t.Parallel()
	state := health.State{}
	for i, step := range []struct {
		status health.Status
		since  time.Time
	}{
		{health.Progressing, time.Time{}},
		{health.Healthy, at.Add(time.Hour)},
		{health.Progressing, at.Add(time.Hour)},
		{health.Unknown, at.Add(time.Hour)},
		{health.Healthy, at.Add(time.Hour)},
		{health.Degraded, time.Time{}},
		{health.Progressing, time.Time{}},
		{health.Healthy, at.Add(7 * time.Hour)},
		{health.Missing, time.Time{}},
	} {
		state = state.Next([]health.Report{{Status: step.status, At: at.Add(time.Duration(i) * time.Hour)}})
		if !state.HealthySince.Equal(step.since) {
			t.Errorf("step %d, %s: healthy since %s, want %s", i, step.status, state.HealthySince, step.since)
		}
	}
}

// A container that crashes again and again is degraded and progressing in turn.
func TestState_isUnhealthySinceTheFirst(t *testing.T) {
	t.Parallel()
	state := health.State{}
	for i, step := range []struct {
		status health.Status
		fails  time.Time // after an hour
	}{
		{health.Healthy, time.Time{}},
		{health.Progressing, at.Add(2 * time.Hour)},
		{health.Degraded, at.Add(2 * time.Hour)},
		{health.Unknown, time.Time{}},
		{health.Missing, at.Add(2 * time.Hour)},
		{health.Suspended, time.Time{}},
		{health.Degraded, at.Add(7 * time.Hour)},
		{health.Healthy, time.Time{}},
	} {
		state = state.Next([]health.Report{{Status: step.status, At: at.Add(time.Duration(i) * time.Hour)}})
		if got := state.FailsAt(time.Hour); !got.Equal(step.fails) {
			t.Errorf("step %d, %s: fails at %s, want %s", i, step.status, got, step.fails)
		}
	}
}

// Argo CD compares the live state with a revision before it deploys that: the old version is
// healthy, and out of sync.
func TestState_isNotHealthyOutOfSync(t *testing.T) {
	t.Parallel()
	got := health.State{}.Next([]health.Report{{Status: health.Healthy, Sync: health.OutOfSync, At: at}})
	if got.IsHealthy() || got.Status != health.Progressing {
		t.Errorf("got %s", got)
	}
}

func TestDescription_isReadBack(t *testing.T) {
	t.Parallel()
	for _, s := range []health.State{
		{Status: health.Healthy, Since: at, HealthySince: at},
		{Status: health.Healthy, Since: at, HealthySince: at.Add(-time.Hour), Message: "ok"},
		{Status: health.Progressing, Since: at, HealthySince: at.Add(-time.Hour), UnhealthySince: at},
		{Status: health.Degraded, Sync: health.Synced, Since: at, UnhealthySince: at, Message: "crash: loop since 2026-01-01T00:00:00Z: x"},
		{Status: health.Degraded, Since: at, UnhealthySince: at.Add(-time.Hour), Message: "loop"},
		{Status: health.Unknown, Since: at, HealthySince: at.Add(-2 * time.Hour), UnhealthySince: at.Add(-time.Hour)},
		{Status: health.Unknown, Sync: health.SyncUnknown, Since: at},
	} {
		if got, ok := health.ParseDescription(s.Description()); !ok || got != s {
			t.Errorf("%q: got %+v, %v", s.Description(), got, ok)
		}
	}
	long := health.State{Status: health.Degraded, Since: at, Message: strings.Repeat("ä", 200)}
	if got, ok := health.ParseDescription(long.Description()); !ok || got.Status != health.Degraded || len(long.Description()) > 140 {
		t.Errorf("long message: got %+v of %d bytes", got, len(long.Description()))
	}
	for _, text := range []string{"", "Healthy", "Fine since 2026-11-20T10:00:00Z", "Healthy, Maybe since 2026-11-20T10:00:00Z", "Healthy since yesterdayZ"} {
		if got, ok := health.ParseDescription(text); ok {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

func TestReport_isBounded(t *testing.T) {
	t.Parallel()
	r := health.Report{Message: strings.Repeat("x\n", 1000), Subject: "a\x00b", Revisions: make([]string, 1000)}.Bounded()
	if len(r.Message) > health.MaxMessage || strings.Contains(r.Message, "\n") || r.Subject != "ab" || len(r.Revisions) != health.MaxBindings {
		t.Errorf("%d bytes, subject %q, %d revisions", len(r.Message), r.Subject, len(r.Revisions))
	}
}
