package flag

import (
	"bytes"
	"testing"

	"promoter/internal/cli/console"
)

// Notes are on standard error, and their control characters are escaped.
func TestTargets_notes(t *testing.T) {
	t.Parallel()
	var messages bytes.Buffer
	system := console.System{Err: &messages}
	var flags Targets
	flags.Options(system, console.NewProgress(system)).Note("github: 3 without .promoter.yaml left out\x1b[2J")
	if got, want := messages.String(), "promoter: github: 3 without .promoter.yaml left out\\x1b[2J\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}
