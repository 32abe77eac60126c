package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

func TestUntilExit(t *testing.T) {
	t.Parallel()
	failed := errors.New("no port")
	for name, test := range map[string]struct {
		work     time.Duration // from the start
		err      error
		wantTook time.Duration
		want     error
	}{
		"it fails while it serves":      {time.Second, failed, time.Second, failed},
		"it ends in time":               {time.Minute + 5*time.Second, nil, time.Minute + 5*time.Second, nil},
		"it ends in time with an error": {time.Minute + 5*time.Second, failed, time.Minute + 5*time.Second, failed},
		"it ignores its context":        {33 * time.Minute, nil, time.Minute + exitTimeout, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := untilExit(ctx, exitTimeout, slog.New(slog.DiscardHandler), func() error {
					<-time.After(test.work)
					return test.err
				})
				if took := time.Since(begin); took != test.wantTook || !errors.Is(err, test.want) {
					t.Errorf("after %v: %v", took, err)
				}
				<-time.After(time.Hour) // the work ends
			})
		})
	}
}
