package rest_test

import (
	"errors"
	"testing"
	"time"

	"promoter/internal/scm/rest"
)

func TestMemo_asksOnceForEachKey(t *testing.T) {
	t.Parallel()
	var memo rest.Memo[string, int]
	asked := 0
	ask := func() (int, error) {
		asked++
		if asked == 1 {
			return 0, errors.New("down")
		}
		return asked, nil
	}
	if _, err := memo.Get("ada", ask); err == nil {
		t.Error("the error is lost")
	}
	for range 2 {
		if got, err := memo.Get("ada", ask); got != 2 || err != nil {
			t.Errorf("ada: %d, %v", got, err)
		}
	}
	if got, err := memo.Get("bob", ask); got != 3 || err != nil {
		t.Errorf("bob: %d, %v", got, err)
	}
}

// A forge that does not answer about one user must not block what is known about others.
func TestMemo_keysDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	var memo rest.Memo[string, int]
	_, err := memo.Get("ada", func() (int, error) {
		return memo.Get("bob", func() (int, error) { return 1, nil })
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAccount_isAskedForOnceAnHour(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 18, 11, 0, 0, 0, time.UTC)
	var account rest.Hourly[string]
	names := []string{"old", "new"}
	ask := func() (string, error) {
		name := names[0]
		names = names[1:]
		return name, nil
	}
	if _, err := account.Get(now, func() (string, error) { return "", errors.New("down") }); err == nil {
		t.Error("the error is lost")
	}
	for after, want := range []string{"old", "old", "new"} {
		at := now.Add(time.Duration(after) * 30 * time.Minute)
		if got, err := account.Get(at, ask); got != want || err != nil {
			t.Errorf("at %s: %q, %v; want %q", at, got, err, want)
		}
	}
}
