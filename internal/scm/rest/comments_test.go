package rest

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"promoter/internal/scm"
)

func TestCutBytes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "abc"},
		{"aä", 2, "a"},
		{"äöü", 4, "äö"},
		{"🙂", 3, ""},
		{"", 0, ""},
	} {
		if got := CutBytes(test.text, test.limit); got != test.want {
			t.Errorf("%q to %d bytes: %q, want %q", test.text, test.limit, got, test.want)
		}
	}
}

func TestCutComments(t *testing.T) {
	t.Parallel()
	cut := CutComments([]scm.Comment{{Body: strings.Repeat("ä", scm.MaxComment)}, {Body: "short"}})
	if len(cut[0].Body) != scm.MaxComment || !utf8.ValidString(cut[0].Body) || cut[1].Body != "short" {
		t.Errorf("%d bytes and %q", len(cut[0].Body), cut[1].Body)
	}
}

func TestByChange(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)
	one := func(id int64, after time.Duration) scm.Comment { return scm.Comment{ID: id, Changed: at.Add(after)} }
	got := ByChange([]scm.Comment{one(3, 2), one(2, 1), one(1, 1), one(2, 1)})
	if len(got) != 3 || got[0].ID != 1 || got[1].ID != 2 || got[2].ID != 3 {
		t.Errorf("got %+v", got)
	}
}

func TestSince(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 1, 10, 0, 0, 999, time.FixedZone("", 3600))
	if got, want := Since(at).Format(time.RFC3339Nano), "2026-06-01T09:00:00Z"; got != want {
		t.Errorf("since %s, want %s", got, want)
	}
	if Since(time.Time{}).Year() != 2005 {
		t.Errorf("since %s", Since(time.Time{}))
	}
}

func TestNumberIn(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]int{
		"https://api.github.com/repos/acme/deploy/issues/12":       12,
		"https://git.example.com/acme/deploy/pulls/7#issuecomment": 7,
		"https://git.example.com/acme/deploy/pulls/7?x=1":          7,
		"https://git.example.com/acme/deploy/pulls":                0,
		"https://git.example.com/acme/deploy/pulls/-7":             0,
		"https://git.example.com/99999999999999999999":             0,
		"http://[": 0,
		"":         0,
	} {
		if got := NumberIn(address); got != want {
			t.Errorf("%q: %d, want %d", address, got, want)
		}
	}
}

func FuzzNumberIn(f *testing.F) {
	f.Add("https://api.github.com/repos/acme/deploy/issues/12")
	f.Add("https://git.example.com/acme/deploy/pulls/7#issuecomment-5")
	f.Fuzz(func(t *testing.T, address string) {
		if number := NumberIn(address); number < 0 {
			t.Errorf("%q: %d", address, number)
		}
	})
}
