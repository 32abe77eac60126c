package adminapi

import (
	"strings"
	"testing"
)

// An event is a change; a comment, a retry time, and an incomplete event are none.
func TestEachEvent(t *testing.T) {
	t.Parallel()
	for stream, want := range map[string]int{
		"":                           0,
		"retry: 5000\n\n: alive\n\n": 0,
		"event: reconciled\ndata: h/acme/one\n\n: alive\n\n":            1,
		"event: reconciled\r\ndata: a\r\n\r\ndata: b\r\n\r\n":           2,
		"event: reconciled\ndata: a\ndata: b\n\nevent: reconciled\n\n":  1,
		"event: reconciled\ndata: a\n\nevent: reconciled\ndata: lost\n": 1,
	} {
		got := 0
		if err := eachEvent(strings.NewReader(stream), func() { got++ }); err != nil || got != want {
			t.Errorf("%q: %d events, %v, want %d", stream, got, err, want)
		}
	}
	long := "data: " + strings.Repeat("x", 1<<20)
	if err := eachEvent(strings.NewReader(long), func() { t.Error("an event") }); err == nil {
		t.Error("a line without an end is read")
	}
}
