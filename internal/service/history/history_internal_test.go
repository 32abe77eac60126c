package history

import (
	"testing"
	"time"

	"promoter/internal/engine"
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
	got := w.landed([]engine.Landed{{At: now.Add(24 * time.Hour)}, {At: now.Add(-time.Hour)}})
	if !got[0].At.Equal(now) || !got[1].At.Equal(now.Add(-time.Hour)) {
		t.Errorf("%v and %v", got[0].At, got[1].At)
	}
}

// A version of a user that is not an image is shown as it is.
func TestParseVersions_notAnImage(t *testing.T) {
	t.Parallel()
	got := parseVersions(map[string]string{"web": "quay.io/acme/web:1@", "odd": "no image at all"})
	if len(got) != 2 || got[0].Tag != "no image at all" || got[1].Repository != "quay.io/acme/web" || got[1].Tag != "1" {
		t.Errorf("%+v", got)
	}
}
