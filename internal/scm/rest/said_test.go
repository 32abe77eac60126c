package rest_test

import (
	"errors"
	"testing"

	"promoter/internal/scm/rest"
)

func TestSaid(t *testing.T) {
	t.Parallel()
	var said rest.Said[string]
	reads := 0
	read := func() error {
		reads++
		said.Remember("ABC", "promoter", "there before")
		said.Read("abc")
		return nil
	}
	for range 2 {
		if got, err := said.Ours("abc", "promoter", read); got != "there before" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got, err := said.Ours("Abc", "other", read); got != "" || err != nil || reads != 1 {
		t.Errorf("of another context: %q, %v, after %d reads", got, err, reads)
	}
	said.Remember("def", "promoter", "said just now")
	if got, known := said.Latest("DEF", "promoter"); got != "said just now" || !known {
		t.Errorf("what was said: %q, %v", got, known)
	}
	down := errors.New("down")
	if got, err := said.Ours("123", "promoter", func() error { return down }); got != "" || !errors.Is(err, down) {
		t.Errorf("where nothing can be read: %q, %v", got, err)
	}
}
