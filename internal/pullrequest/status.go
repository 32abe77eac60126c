package pullrequest

import (
	"fmt"
	"slices"

	"promoter/internal/promotion"

	"promoter/internal/config"
	"promoter/internal/scm"
)

// maxDescription is the most runes of a status. GitHub takes so many.
const maxDescription = 140

// StatusOf returns the commit status of a pull request of ours: passed when all that
// the config asks holds, so that the status can be required. What the forge asks by
// itself is not among it: it stands beside, and a status that waits for it would
// keep people from merging, and a queue from taking it.
func StatusOf(p Proposal) scm.Status {
	if p.Step != StepPropose {
		return status(scm.CheckPending, p.Reason.Message+until(p.Reason.Until))
	}
	gates := slices.DeleteFunc(slices.Clone(p.Gates), func(gate promotion.Condition) bool { return gate.Forge })
	blocking, blocked := promotion.FirstBlocking(gates, false)
	switch {
	case !blocked && p.Open != nil && p.Open.Refused != nil:
		return status(scm.CheckPassed, refusalDescription(*p.Open.Refused))
	case !blocked:
		return status(scm.CheckPassed, passedInWords(gates))
	}
	state := scm.CheckPending
	if blocking.State == promotion.Failed {
		state = scm.CheckFailed
	}
	why := promotion.BlockedBy(blocking)
	return status(state, why.Message+until(why.Until))
}

// Ready says whether nothing keeps a proposal from landing but that it is not open
// yet: then a look at once may land it.
func Ready(p Proposal) bool {
	_, blocked := promotion.FirstBlocking(p.Gates, false)
	return !blocked && p.Step == StepPropose && p.Environment.Land == config.LandAutomerge
}

func passedInWords(gates []promotion.Condition) string {
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
	return scm.Status{Context: promotion.StatusContext, State: state, Description: oneLine(words, maxDescription)}
}
