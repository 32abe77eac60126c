package promotion

import (
	"fmt"
	"slices"

	"promoter/internal/scm"
)

// StatusContext is the context of promoter's one commit status. It must not
// change: branch protection names it.
const StatusContext = "promoter"

// maxDescription is the most runes of a status. GitHub takes so many.
const maxDescription = 140

// StatusOf returns the commit status of a pull request of ours: passed when
// everything that decides about landing holds, so that the status can be required.
func StatusOf(p Proposal) scm.Status {
	if p.Step != StepPropose {
		return status(scm.CheckPending, p.Reason.Words+until(p.Reason.Until))
	}
	blocks := func(gate Condition) bool { return gate.blocks(false) }
	i := slices.IndexFunc(p.Gates, blocks)
	if i < 0 {
		return status(scm.CheckPassed, passedInWords(p.Gates))
	}
	state := scm.CheckPending
	if p.Gates[i].State == Failed {
		state = scm.CheckFailed
	}
	blocking := blockedBy(p.Gates[i])
	return status(state, blocking.Words+until(blocking.Until))
}

func passedInWords(gates []Condition) string {
	switch len(gates) {
	case 0:
		return "nothing keeps it from landing"
	case 1:
		return gates[0].Name + " passed"
	default:
		return fmt.Sprintf("all %d gates passed", len(gates))
	}
}

// StatusOfOthers returns the commit status of a pull request that is not ours: it
// says so, and whether the config of its head can be used.
func StatusOfOthers(config error) scm.Status {
	if config != nil {
		return status(scm.CheckFailed, "not a promotion; the config has an error: "+config.Error())
	}
	return status(scm.CheckPassed, "not a promotion")
}

func status(state scm.CheckState, words string) scm.Status {
	return scm.Status{Context: StatusContext, State: state, Description: oneLine(words, maxDescription)}
}
