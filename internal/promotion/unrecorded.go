package promotion

import (
	"time"

	"promoter/internal/state"
)

// Unrecorded returns what must be written to the state branch before the
// decisions are carried out, because nothing else will tell it later: when a
// version was first offered and a snapshot first seen, and which snapshot a
// request was taken for.
func Unrecorded(observed Observed, decisions []Decision, now time.Time) []state.Change {
	return nil
}
