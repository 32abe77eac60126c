package console

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"promoter/internal/activity"
	"promoter/internal/fault"
)

// A command has EndTimeout to end after a signal, whatever it does.
func TestRun_endsInTimeAfterASignal(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		work     time.Duration // from the start; the signal comes after a minute
		err      error
		wantTook time.Duration
		want     int
		message  string
	}{
		"it fails before":   {time.Second, fault.New(fault.Invalid, "no port"), time.Second, ExitFailed, "promoter: no port\n"},
		"it ends in time":   {time.Minute + 5*time.Second, nil, time.Minute + 5*time.Second, ExitDone, ""},
		"it is interrupted": {time.Minute + 5*time.Second, context.Canceled, time.Minute + 5*time.Second, ExitSignal, "promoter: interrupted\n"},
		"it ignores the signal": {
			33 * time.Minute, nil, time.Minute + EndTimeout, ExitLate,
			"promoter: the process exits 19s after the signal without the end of repository a, repository b; the next one continues\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				command := &cobra.Command{RunE: func(command *cobra.Command, _ []string) error {
					defer activity.Begin(command.Context(), "repository a")()
					defer activity.Begin(command.Context(), "repository b")()
					activity.Begin(command.Context(), "repository c")()
					<-time.After(test.work)
					return test.err
				}}
				var messages strings.Builder
				code := Run(ctx, command, []string{}, System{Out: io.Discard, Err: &messages})
				if took := time.Since(begin); took != test.wantTook || code != test.want || messages.String() != test.message {
					t.Errorf("after %v: %d, %q", took, code, messages.String())
				}
				<-time.After(time.Hour) // the work ends
			})
		})
	}
}

// stuck is a pipe of which no one reads.
type stuck struct{ ended <-chan struct{} }

func (s stuck) Write([]byte) (int, error) {
	<-s.ended
	return 0, io.ErrClosedPipe
}

func TestRun_endsInTimeIfItsMessagesAreNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		read := make(chan struct{})
		err := stuck{read}
		command := &cobra.Command{RunE: func(command *cobra.Command, _ []string) error {
			_, failed := command.ErrOrStderr().Write([]byte("a message"))
			return failed
		}}
		if code := Run(ctx, command, []string{}, System{Out: io.Discard, Err: err}); code != ExitLate || time.Since(begin) >= 20*time.Second {
			t.Errorf("%d after %v", code, time.Since(begin))
		}
		close(read)
		synctest.Wait()
	})
}
