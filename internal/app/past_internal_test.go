package app

import (
	"testing"
	"time"

	"promoter/internal/engine"
	"promoter/internal/store"
)

func FuzzReadMark(f *testing.F) {
	for _, seed := range []string{"", "1-a", "-1-a", "99999999999999999999-a", "1", "1-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		mark, err := readMark(text)
		if err != nil && mark != (store.Cursor{}) || err == nil && (mark.ID == "") != (text == "") {
			t.Errorf("%q: %+v, %v", text, mark, err)
		}
	})
}

// A commit that claims to be of tomorrow landed when it was seen; a decision keeps its
// time, by which it is known again.
func TestBook_times(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	b := book{key: "k", name: "n", now: now}
	got := b.landed([]engine.Landed{{At: now.Add(24 * time.Hour)}, {At: now.Add(-time.Hour)}})
	if !got[0].At.Equal(now) || !got[1].At.Equal(now.Add(-time.Hour)) {
		t.Errorf("%v and %v", got[0].At, got[1].At)
	}
}

// What a person wrote as a version is told as it is where it is none.
func TestVersionsOf(t *testing.T) {
	t.Parallel()
	got := versionsOf(map[string]string{"web": "quay.io/acme/web:1@", "odd": "no image at all"})
	if len(got) != 2 || got[0].Tag != "no image at all" || got[1].Repository != "quay.io/acme/web" || got[1].Tag != "1" {
		t.Errorf("%+v", got)
	}
}
