package gitlab

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// GitLab executes a line that starts with a command, even in texts by our account.
func TestBodyOf_nothingIsObeyed(t *testing.T) {
	t.Parallel()
	text := "/close\n\n- a/b\n /merge\n/label ~x\n\\/reopen\n//x\n/1\nhttps://x/y\n/Approve"
	want := "\\/close\n\n- a/b\n /merge\n\\/label ~x\n\\/reopen\n//x\n/1\nhttps://x/y\n\\/Approve"
	if diff := cmp.Diff(want, bodyOf(text)); diff != "" {
		t.Error(diff)
	}
	if got := textOf(want); !strings.HasPrefix(got, "/close\n") || !strings.HasSuffix(got, "\n/Approve") {
		t.Errorf("comes back as %q", got)
	}
}

// GitLab removes carriage returns before it looks for commands.
func TestBodyOf_nothingIsHidden(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\n\r/close": "a\n\\/close", "/\rclose": "\\/close", "\r\r/close\r\n/merge": "\\/close\n\\/merge", "a\r\nb": "a\nb",
	} {
		if got := bodyOf(text); got != want {
			t.Errorf("%q is sent as %q, want %q", text, got, want)
		}
	}
}

func TestTitleOf(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 300)
	for title, want := range map[string]string{
		titleOf("Promote web", true): "Promote web", titleOf("Promote web", false): "Promote web",
		"[Draft] x": "x", "(draft) x": "x", "DRAFT:x": "x", "Drafty: x": "Drafty: x", "Draft:": "Draft:",
		titleOf(long, true): strings.Repeat("ä", 255-len(draftPrefix)-1) + "…",
	} {
		if got := bareTitle(title); got != want {
			t.Errorf("%q is %q, want %q", title, got, want)
		}
	}
	if got := titleOf(long, true); utf8.RuneCountInString(got) != 255 || !draftWords.MatchString(got) {
		t.Errorf("the title of a draft is %q", got)
	}
}

func TestLabelsOf_cutsLongOnes(t *testing.T) {
	t.Parallel()
	got := labelsOf([]string{"prod", "a,b", strings.Repeat("ö", 300)})
	if want := []string{"prod", "a b", strings.Repeat("ö", 255)}; !cmp.Equal(got, want) {
		t.Errorf("labels are %q", got)
	}
}

// Escaping is idempotent for a round trip, so that an unchanged text causes no edit;
// and no command in it is executed.
func FuzzBodyOf(f *testing.F) {
	f.Add("/close\n\\/x\n\r\n/y")
	f.Add(`\\/a`)
	f.Add("\r/close")
	f.Fuzz(func(t *testing.T, text string) {
		sent := bodyOf(text)
		if command.MatchString(strings.ReplaceAll(sent, "\r", "")) {
			t.Fatalf("%q holds a command", sent)
		}
		if again := bodyOf(textOf(sent)); again != sent {
			t.Fatalf("%q is %q the next time", sent, again)
		}
	})
}
