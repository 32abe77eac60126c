package cli

import (
	"time"

	"promoter/internal/verb"

	"github.com/spf13/cobra"

	"promoter/internal/fault"
	"promoter/internal/schedule"
)

func newFreeze(system System) *cobra.Command {
	command, flags := newOrder(system, verb.Freeze, wordsFreeze())
	var until string
	command.Flags().StringVar(&until, "until", "", flagUntil)
	command.PreRunE = func(*cobra.Command, []string) (err error) {
		flags.decision.Until, err = parseUntil(until, time.Now())
		return err
	}
	return command
}

// parseUntil reads a time, a day in UTC, or how long from now. The empty text is
// no end.
func parseUntil(text string, now time.Time) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no end is no error
	}
	until, err := time.Parse(time.RFC3339, text)
	if err != nil {
		until, err = time.Parse(time.DateOnly, text)
	}
	if err != nil {
		var wait time.Duration
		wait, err = schedule.ParseDuration(text)
		until = now.Add(wait).Truncate(time.Second)
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "--until %q: want a time like 2026-12-24T18:00:00Z, a day like 2026-12-24, or a duration like 3d", text)
	}
	if !until.After(now) {
		return nil, fault.New(fault.Invalid, "--until %s: that is past", until.UTC().Format(time.RFC3339))
	}
	until = until.UTC()
	return &until, nil
}
