package printable_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/printable"
)

func TestLine_isOneLineWithoutInvisibleCharacters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "",
		" a\r\n\tb  c ":               "a b c",
		"a\x00b\u200bc\u202ed\xff":    "abcd",
		"Promoter-Image: x\n\nmore\v": "Promoter-Image: x more",
		"grün\u00a0weiß":              "grün weiß",
	} {
		if got := printable.Line(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestShorten_countsRunes(t *testing.T) {
	t.Parallel()
	if got := printable.Shorten("äöü", 3); got != "äöü" {
		t.Errorf("got %q", got)
	}
	if got := printable.Shorten("äöüß", 3); got != "äö…" {
		t.Errorf("got %q", got)
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	got := printable.Wrap("one two three\nfour averyveryverylongword five", 9)
	if diff := cmp.Diff([]string{"one two", "three", "four", "averyveryverylongword", "five"}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
