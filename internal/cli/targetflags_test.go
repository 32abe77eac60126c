package cli

import (
	"bytes"
	"testing"
)

// What was left out is said on standard error, and cannot steer a terminal.
func TestTargetFlags_notes(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	system := System{Err: &said}
	var flags targetFlags
	flags.options(system, newProgress(system)).Note("github: 3 without .promoter.yaml left out\x1b[2J")
	if got, want := said.String(), "promoter: github: 3 without .promoter.yaml left out\\x1b[2J\n"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}
