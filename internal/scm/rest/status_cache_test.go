package rest_test

import (
	"errors"
	"testing"

	"promoter/internal/scm/rest"
)

func TestStatusCache(t *testing.T) {
	t.Parallel()
	var cache rest.StatusCache[string]
	reads := 0
	read := func() error {
		reads++
		cache.Remember("ABC", "promoter", "there before")
		cache.Read("abc")
		return nil
	}
	for range 2 {
		if got, err := cache.Ours("abc", "promoter", read); got != "there before" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got, err := cache.Ours("Abc", "other", read); got != "" || err != nil || reads != 1 {
		t.Errorf("of another context: %q, %v, after %d reads", got, err, reads)
	}
	cache.Remember("def", "promoter", "cache just now")
	if got, known := cache.Latest("DEF", "promoter"); got != "cache just now" || !known {
		t.Errorf("what was cache: %q, %v", got, known)
	}
	down := errors.New("down")
	if got, err := cache.Ours("123", "promoter", func() error { return down }); got != "" || !errors.Is(err, down) {
		t.Errorf("where nothing can be read: %q, %v", got, err)
	}
}
