package history

import (
	"strings"
	"testing"
	"time"

	"promoter/internal/landing"
	"promoter/internal/promotion"
	"promoter/internal/promotion/promotiontest"
	"promoter/internal/promotion/propose"
	"promoter/internal/reconcile/outcome"
	"promoter/internal/store"
)

func FuzzParseCursor(f *testing.F) {
	for _, seed := range []string{"", "1-a", "-1-a", "99999999999999999999-a", "1", "1-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cursor, err := parseCursor(text)
		if err != nil && cursor != (store.Cursor{}) || err == nil && (cursor.ID == "") != (text == "") {
			t.Errorf("%q: %+v, %v", text, cursor, err)
		}
	})
}

// A commit from the future landed when it was observed. Other times are kept, because they
// are part of the identity of an event.
func TestEventWriter_futureCommit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	w := eventWriter{key: "k", name: "n", now: now}
	got := w.landed([]landing.Landed{{At: now.Add(24 * time.Hour)}, {At: now.Add(-time.Hour)}})
	if !got[0].At.Equal(now) || !got[1].At.Equal(now.Add(-time.Hour)) {
		t.Errorf("%v and %v", got[0].At, got[1].At)
	}
}

// A version of a user that is not an image is shown as it is.
func TestParseVersions_notAnImage(t *testing.T) {
	t.Parallel()
	got := parseVersions(map[string]string{"web": "quay.io/acme/web:1", "odd": "no image at all"})
	if len(got) != 2 || got[0].Tag != "no image at all" || got[1].Repository != "quay.io/acme/web" || got[1].Tag != "1" {
		t.Errorf("%+v", got)
	}
}

// An event names what changed, and all components only if that is unknown.
func TestEventWriter_namesWhatChanged(t *testing.T) {
	t.Parallel()
	target := promotion.Target{Environment: "prod", Application: "shop"}
	old := promotiontest.SnapshotOf("api:1.0", "web:1.4", "worker:2.0")
	web := promotiontest.SnapshotOf("api:1.0", "web:1.5", "worker:2.0")
	all := promotiontest.SnapshotOf("api:1.1", "web:1.6", "worker:2.1")
	decision := promotion.Decision{Target: target, Snapshot: all, Moves: promotion.ChangesOf(old, all)}
	open := &promotion.Open{Number: 7, Snapshots: map[string]promotion.Snapshot{"shop": web}}
	effect := outcome.Effect{Proposal: propose.Proposal{Decisions: []promotion.Decision{decision}, Open: open}}
	landings := []promotion.Landing{{Commit: "b", Number: 8, At: time.Unix(9, 0), Snapshot: web}, {Commit: "a", Number: 6, At: time.Unix(8, 0), Snapshot: old}}
	w := eventWriter{key: "k", name: "n", now: time.Unix(10, 0)}
	const everything, onlyWeb = "api 1.0 -> 1.1, web 1.4 -> 1.6, worker 2.0 -> 2.1", "web 1.4 -> 1.5"
	for _, test := range []struct {
		name string
		got  []store.Event
		want string
	}{
		{"an action", w.proposal(effect, store.EventRefreshed, w.now, false), everything},
		{"an open pull request", w.proposal(effect, store.EventOpened, w.now, true), onlyWeb},
		{"a landing", w.landed([]landing.Landed{{Target: target, Snapshot: web, Moves: promotion.ChangesOf(old, web)}}), onlyWeb},
		{"a landing after nothing known", w.landed([]landing.Landed{{Target: target, Snapshot: old}}), "api 1.0, web 1.4, worker 2.0"},
		{"merges", w.merged(outcome.Report{Landings: map[promotion.Target][]promotion.Landing{target: landings}}, nil), "api 1.0, web 1.4, worker 2.0; " + onlyWeb},
		{
			"a merge that the history has", w.merged(outcome.Report{Landings: map[promotion.Target][]promotion.Landing{target: landings[1:]}},
				[]landing.Landed{{Target: target, Commit: "a", Moves: promotion.ChangesOf(web, old)}}), "web 1.5 -> 1.4",
		},
	} {
		var events []string
		for _, e := range test.got {
			var versions []string
			for _, v := range e.Versions {
				line := v.Component + " " + v.Tag
				if v.FromTag != "" {
					line = v.Component + " " + v.FromTag + " -> " + v.Tag
				}
				versions = append(versions, line)
			}
			events = append(events, strings.Join(versions, ", "))
		}
		if got := strings.Join(events, "; "); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
