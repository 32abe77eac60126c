package github

import (
	"testing"
	"time"

	"promoter/internal/fault"
	"promoter/internal/scm"
)

func TestHeadDeleted_readsTheTimeline(t *testing.T) {
	t.Parallel()
	const path = "GET " + repoPath + "/issues/7/events"
	event := func(kind, at string) string {
		return `{"event":"` + kind + `","created_at":"2026-06-01T11:00:` + at + `Z"}`
	}
	for events, want := range map[string]time.Time{
		``: {},
		event("head_ref_deleted", "05") + "," + event("closed", "05"):                                            noon.Add(-time.Hour + 5*time.Second),
		event("closed", "05") + "," + event("head_ref_deleted", "06") + "," + event("head_ref_deleted", "09"):    noon.Add(-time.Hour + 6*time.Second),
		event("head_ref_deleted", "05") + "," + event("head_ref_restored", "06") + "," + event("reopened", "07"): {},
	} {
		w := newWire(t)
		w.on(path, says(200, "["+events+"]"))
		got, err := w.open().(scm.Deletions).HeadDeleted(t.Context(), 7)
		if err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", events, got, err)
		}
		w.expect(path)
	}
	w := newWire(t)
	w.on(path, says(502, ``))
	_, err := w.open().(scm.Deletions).HeadDeleted(t.Context(), 7)
	checkFault(t, err, fault.Temporary, "events of pull request 7 of acme/deploy")
}
