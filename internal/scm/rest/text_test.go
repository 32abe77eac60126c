package rest

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzShorten(f *testing.F) {
	f.Add("ä🎉x", 2)
	f.Add("\xff\xfe\xfd", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 1 || limit > 1000 {
			return
		}
		got := Shorten(text, limit, "…")
		if len([]rune(got)) > limit || (len([]rune(text)) <= limit && got != text) || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("%q at %d became %q", text, limit, got)
		}
	})
}

func TestSameText(t *testing.T) {
	t.Parallel()
	if !SameText("a\r\nb \n", "a\nb") || SameText("a b", "ab") {
		t.Error("texts are compared wrongly")
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	got := OneLine("no\r\n\nway \x1b[31m https://u:p@h.example.com/x?token=1 " + strings.Repeat("x", 9000))
	if strings.ContainsAny(got, "\n\r\x1b") || len(got) > 500 || !strings.HasPrefix(got, "no; way ") || strings.Contains(got, "u:p") {
		t.Errorf("got %q", got)
	}
}

func TestReleaseTag(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]bool{
		"v1.2.3": true, strings.Repeat("a", 128): true,
		"": false, "-v1": false, "a/b": false, strings.Repeat("a", 129): false,
	} {
		if ReleaseTag(tag) != want {
			t.Errorf("%q: want %t", tag, want)
		}
	}
}

func TestIsCommit(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		strings.Repeat("a", 40): true, strings.Repeat("A", 40): true, strings.Repeat("0", 64): true,
		"": false, "main": false, strings.Repeat("a", 41): false, strings.Repeat("g", 40): false,
	} {
		if IsCommit(id) != want {
			t.Errorf("%q: want %t", id, want)
		}
	}
}
