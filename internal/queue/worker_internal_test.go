package queue

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"promoter/internal/fault"
)

func TestFailure_delaysByKindOfError(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	no := errors.New("no")
	options := Options{FirstRetry: 5 * time.Second, LastRetry: 10 * time.Minute, Random: func() float64 { return 0 }}
	tests := []struct {
		name    string
		attempt int
		err     error
		want    Failure
	}{
		{"a first failure", 1, fault.Wrap(fault.Temporary, no), Failure{Delay: 5 * time.Second, MinDelay: 5 * time.Second}},
		{"a fourth one", 4, no, Failure{Delay: 40 * time.Second, MinDelay: 40 * time.Second}},
		{"many", 1_000_000, fault.Wrap(fault.Conflict, no), Failure{Delay: 10 * time.Minute, MinDelay: 10 * time.Minute}},
		{"a limit with a time", 2, fault.Limited(at, no), Failure{Delay: 10 * time.Second, MinDelay: 10 * time.Second, RetryAt: at, NotBefore: at}},
		{"a limit without one", 2, fault.Limited(time.Time{}, no), Failure{Delay: 10 * time.Second, MinDelay: 10 * time.Second}},
		{"an error that a user must correct", 2, fault.Wrap(fault.Invalid, no), Failure{Delay: 10 * time.Second, MinDelay: 10 * time.Second}},
		{"for a long time", 9, fault.Wrap(fault.Invalid, no), Failure{Delay: 10 * time.Minute, MinDelay: time.Minute}},
		{"a missing permission", 1, fault.Wrap(fault.Unauthorized, no), Failure{Delay: 5 * time.Second, MinDelay: 5 * time.Second}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.want.Reason = "no"
			if diff := cmp.Diff(test.want, options.failure(test.attempt, test.err)); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSpread_shortensByUpToAHalf(t *testing.T) {
	t.Parallel()
	for random, want := range map[float64]time.Duration{0: time.Minute, 0.5: 45 * time.Second, 1: 30 * time.Second} {
		o := Options{Random: func() float64 { return random }}
		if got := o.spread(time.Minute); got != want {
			t.Errorf("by %v: %v, want %v", random, got, want)
		}
	}
}

func TestLevelOf_warnsOnlyOfWhatDoesNotPass(t *testing.T) {
	t.Parallel()
	passing := fault.Passing("the forge still prepares the repository")
	for err, want := range map[error]slog.Level{
		passing: slog.LevelInfo, errors.Join(passing, nil): slog.LevelInfo, fault.New(fault.Temporary, "503"): slog.LevelWarn,
	} {
		if got := levelOf(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}
