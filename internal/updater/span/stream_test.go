package span

import (
	"strings"
	"testing"
)

func TestPosition(t *testing.T) {
	t.Parallel()
	const text = "\ufeffaé: 😀x\r\nb: y\n"
	s, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for letter, want := range map[string]string{"a": "f:1:1", "x": "f:1:6", "b": "f:2:1", "y": "f:2:4"} {
		if got := s.Position("f", strings.Index(text, letter)).String(); got != want {
			t.Errorf("%s stands at %s, want %s", letter, got, want)
		}
	}
}
