package promotion

import (
	"promoter/internal/config"
)

// Caps tells what the server's file allows in an environment of the repository.
type Caps func(environment string) Cap

// Cap is what no config file may go beyond. A setting that is not allowed becomes
// the nearest stricter one that is: push, then automerge, then pr; automatic, then
// manual, then never. A setting stricter than all that is allowed stays: it goes
// beyond nothing. The zero Cap allows everything.
type Cap struct {
	Land      []config.Land    // nil: any
	Propose   []config.Propose // nil: any
	Approvals int              // at least; what pushes becomes a pull request
}
