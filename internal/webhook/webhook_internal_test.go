package webhook

import (
	"strings"
	"testing"
)

// Names that senders choose are shortened and cleaned before they are stored or shown.
func TestNormalize_limitsNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 100)
	for _, test := range []struct{ id, event, wantEvent string }{
		{"", "push\x00\n\x1b[31m", "push   [31m"},
		{long, long, strings.Repeat("ä", 64)},
		{"a\nb", "push\xff", "push?"},
		{"a\xffb", "push", "push"},
	} {
		got := normalize(Delivery{ID: test.id, EventType: test.event}, Request{Body: []byte("x")})
		if len(got.ID) != 64 || got.EventType != test.wantEvent {
			t.Errorf("%q, %q became %q, %q", test.id, test.event, got.ID, got.EventType)
		}
	}
}
