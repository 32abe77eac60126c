package object_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
	"promoter/internal/git/gittest"
	"promoter/internal/git/object"
)

// messages are commit messages in which the trailers are easily misread.
func messages() []string {
	return []string{
		"", "\n", "title", "title\n", "Key: value\n", "title\n\n", "\n\nKey: value\n",
		"title\n\nKey: value\n",
		"title\n\nKey: value",
		"title\n\nPromoter-Environment: prod\nPromoter-Image: web=quay.io/acme/web:1.4.2@sha256:00\nPromoter-Image: db=x\n",
		"title\n\nbody: with a colon\n\nKey: value\n",
		"title\n\nKey: value\n\nbody\n",
		"title\nKey: value\n",
		"title\n\nKey: value\nplain words\n",
		"title\n\nplain words\nKey: value\n",
		"title\n\nplain\nwords\nmany\nSigned-off-by: A <a@example.com>\n",
		"title\n\nplain\nwords\nmany\nmore\nSigned-off-by: A <a@example.com>\n",
		"title\n\nplain\nSigned-off-by: A\nKey: value\n",
		"title\n\n(cherry picked from commit 1234)\nKey: value\n",
		"title\n\nKey: value\n continues\n\tand on\nOther: x\n",
		"title\n\n indented\nKey: value\n",
		"title\n\nKey: value\n  \n",
		"title\n\nKey: value\n  \nmore\n",
		"title\n  \nKey: value\n",
		"title\r\n\r\nKey: value\r\nOther: v\r\n",
		"title\n\nKey : value\nOther\t:v\n",
		"title\n\nKey with spaces: value\n",
		"title\n\nKey:\n",
		"title\n\nKey:\n folded\n",
		"title\n\n: value\n",
		"title\n\n-: value\n",
		"title\n\nClé: value\n",
		"title\n\nKey: one: two: three\n",
		"title\n\nhttps://example.com/a\n",
		"title\n\nKey: value\n# comment\nOther: x\n",
		"title\n\nKey: value\n# comment\n continues\n",
		"title\n\n# comment\nKey: value\n\n# more\n\n",
		"# comment\n\nKey: value\n",
		"title\n# comment\n\nKey: value\n",
		"title\n\nKey: value\n\nConflicts:\n\ta.yaml\n\tb.yaml\n",
		"title\n\nKey: value\n\nConflicts:\n\ta.yaml\nb.yaml\n",
		"title\n\nKey: value\n# ------------------------ >8 ------------------------\nOther: v\n",
		"title\n\nKey: value\n---\nOther: v\n",
		"title\n---\n\nKey: value\n",
		"title\n\nKey: v\n\x0bx\n",
		"title\n\nKey: a\xff\xfe\n",
		"title\n\nKey: a\x00b\nOther: c\n",
		"title\n\n\n\nKey: value\n\n\n",
		"title\n\nkey: 1\nKEY: 2\n",
		" \n \nKey: value\n",
		"title\n\nKey: value\n\n \n\t\n",
	}
}

func TestParseTrailers_asGitDoes(t *testing.T) {
	t.Parallel()
	for _, message := range messages() {
		compareTrailers(t, message)
	}
}

// compareTrailers asks Git for the trailers of the message. Git is configured not to treat
// the message as an email, in which a line of three hyphens would end it.
func compareTrailers(t *testing.T, message string) {
	t.Helper()
	// Git reads a message from a commit up to the first zero byte.
	asStored, _, _ := strings.Cut(message, "\x00")
	want := gittest.ExecWithInput(t, ".", asStored, "interpret-trailers", "--parse", "--no-divider")
	var got strings.Builder
	for _, trailer := range object.ParseTrailers(message) {
		got.WriteString(trailer.Key + ": " + trailer.Value + "\n")
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("%q (-git +got):\n%s", message, diff)
	}
}

func FuzzParseTrailers(f *testing.F) {
	for _, message := range messages() {
		f.Add(message)
	}
	f.Fuzz(func(t *testing.T, message string) {
		trailers := object.ParseTrailers(message)
		for _, trailer := range trailers {
			if strings.ContainsAny(trailer.Key+trailer.Value, "\n\x00") {
				t.Errorf("%q: %q has a line break", message, trailer)
			}
		}
		if len(trailers) == 0 {
			return
		}
		// What was read can be written, unless it is close to the limit.
		again, err := trailers.Message("title")
		if err != nil {
			if len(message) < 60<<10 {
				t.Errorf("%q: %v", message, err)
			}
			return
		}
		if diff := cmp.Diff(trailers, object.ParseTrailers(again)); diff != "" {
			t.Errorf("%q (-read +written and read):\n%s", message, diff)
		}
	})
}

func TestParseTrailers_tooLong(t *testing.T) {
	t.Parallel()
	const end = "\n\nKey: value\n"
	for length, want := range map[int]int{64 << 10: 1, 64<<10 + 1: 0} {
		message := strings.Repeat("t", length-len(end)) + end
		if got := object.ParseTrailers(message); len(got) != want {
			t.Errorf("%d bytes: %v", length, got)
		}
	}
}

func TestTrailers_Message(t *testing.T) {
	t.Parallel()
	trailers := object.Trailers{{Key: "Promoter-Environment", Value: "prod"}, {Key: "Promoter-Image", Value: "web=r/web:1@sha256:00"}}
	for text, want := range map[string]string{
		"Move web\n":                     "Move web\n\nPromoter-Environment: prod\nPromoter-Image: web=r/web:1@sha256:00\n",
		"Move web\n\nBody.\n\n":          "Move web\n\nBody.\n\nPromoter-Environment: prod\nPromoter-Image: web=r/web:1@sha256:00\n",
		"Move\n\nPromoter-Image: forged": "Move\n\nPromoter-Image: forged\n\nPromoter-Environment: prod\nPromoter-Image: web=r/web:1@sha256:00\n",
		"\xff":                           "\uFFFD\n\nPromoter-Environment: prod\nPromoter-Image: web=r/web:1@sha256:00\n",
	} {
		got, err := trailers.Message(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
		if diff := cmp.Diff(trailers, object.ParseTrailers(got)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
		compareTrailers(t, got)
	}
	if got, err := object.Trailers(nil).Message("title\n"); got != "title\n" || err != nil {
		t.Errorf("without trailers: %q, %v", got, err)
	}
}

func TestTrailers_Message_refused(t *testing.T) {
	t.Parallel()
	key := object.Trailers{{Key: "Key", Value: "value"}}
	for name, test := range map[string]struct {
		trailers object.Trailers
		text     string
	}{
		"a line break in a value":      {object.Trailers{{Key: "Key", Value: "a\nForged: b"}}, "title"},
		"a folded value":               {object.Trailers{{"Key", "a\n b"}}, "title"},
		"a zero byte in a value":       {object.Trailers{{"Key", "a\x00"}}, "title"},
		"spaces around a value":        {object.Trailers{{"Key", " a"}}, "title"},
		"a carriage return at the end": {object.Trailers{{"Key", "a\r"}}, "title"},
		"a colon in a key":             {object.Trailers{{"Key: a", "b"}}, "title"},
		"a space in a key":             {object.Trailers{{"Key a", "b"}}, "title"},
		"no key":                       {object.Trailers{{"", "b"}}, "title"},
		"no text":                      {key, " \n"},
		"a zero byte in the text":      {key, "a\x00b"},
		"scissors in the text":         {key, "title\n# ------------------------ >8 ------------------------\n"},
		"a long text":                  {key, strings.Repeat("t", 64<<10)},
		"many trailers":                {make(object.Trailers, 100_000), "title"},
	} {
		got, err := test.trailers.Message(test.text)
		if fault.KindOf(err) != fault.Invalid || got != "" || len(err.Error()) > 1000 {
			t.Errorf("%s: %.100q, %.1000v", name, got, err)
		}
	}
}
