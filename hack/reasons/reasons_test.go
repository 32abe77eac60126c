package reasons_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"promoter/hack/reasons"
)

func TestRead(t *testing.T) {
	t.Parallel()
	got, err := reasons.Read("file.txt", "# a comment\n\none entry\n  Because\n  of that.\ntwo\n  Too.\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"one entry": "Because of that.", "two": "Too."}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{
		"one\n":                "file.txt has no reason below",
		" because\n":           "file.txt begins with a reason",
		"one\n a\none\n  b.\n": "file.txt has two entries",
	} {
		if _, err := reasons.Read("file.txt", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
