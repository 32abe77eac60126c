package promotion

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"promoter/internal/glob"
	"promoter/internal/health"
)

// Check is what one status or check run reported about a commit.
type Check struct {
	Name string
	// Commit is the commit that it is about, of those that have the same versions. Empty: the head of a pull request.
	Commit string
	State  ConditionState
	// NoResult is set if the run ended without a result, such as a canceled or a skipped one. State is what
	// the forge counts it as.
	NoResult bool
	At       time.Time
	// Sources are the results by the app that reported them, see scm.Check.
	Sources map[string]ConditionState
}

// hasResult reports whether a run is finished, with a result.
func (c Check) hasResult() bool { return !c.NoResult && (c.State == Passed || c.State == Failed) }

// EvaluateChecks requires that all checks of a pattern passed. If there is none,
// the system that runs them may not have started yet. Promoter's own status does
// not count, because a promotion would wait for itself, and neither do those that mirror health.
//
// The checks may be about several commits with the same versions, the newest first. Then each counts by its newest result,
// and a failure only if no older run passed or still runs: what failed later may be something else. Which checks
// there are, the oldest commit with a result decides, together with those before it.
//
// A skipped run counts only where no commit has a result of that name: it is about the same versions. See also Interrupted.
func EvaluateChecks(c *Condition, pattern string, checks []Check) {
	c.State, c.Reason = Pending, NotReported
	runs, required := requiredRuns(pattern, checks)
	passed := 0
	var failed, running, ended string
	for _, name := range required {
		switch _, state := CountingRun(runs[name]); state {
		case Passed:
			passed++
		case Failed:
			failed = firstName(failed, name)
		case Unknown:
			ended = firstName(ended, name)
		default:
			running = firstName(running, name)
		}
	}
	switch {
	case failed != "":
		c.State, c.Reason = Failed, failed+" failed"
	case running != "":
		c.Reason = running + " has not finished"
	case ended != "":
		c.Reason = ended + " ended without a result: run it again"
	case len(required) > 0:
		c.State, c.Reason = Passed, ""
	}
	if len(required) > 1 {
		c.Value = fmt.Sprintf("%d of %d passed", passed, len(required))
	}
}

// CheckProgress returns how far the checks of a pattern are: Failed if one of them failed, or ended without a result, so that
// they do not pass by waiting; Pending while one has not finished, or none is reported yet, with its name or the pattern;
// else Passed.
func CheckProgress(pattern string, checks []Check) (state ConditionState, running string) {
	runs, required := requiredRuns(pattern, checks)
	if len(required) == 0 {
		return Pending, pattern
	}
	for _, name := range required {
		switch _, state := CountingRun(runs[name]); state {
		case Passed:
		case Failed, Unknown:
			return Failed, ""
		default:
			running = firstName(running, name)
		}
	}
	if running != "" {
		return Pending, running
	}
	return Passed, ""
}

// HaveResults reports whether all checks of a pattern passed, each by a result: those of more commits do not change that.
func HaveResults(pattern string, checks []Check) bool {
	runs, required := requiredRuns(pattern, checks)
	return len(required) > 0 && !slices.ContainsFunc(required, func(name string) bool {
		at, state := CountingRun(runs[name])
		return state != Passed || runs[name][at].NoResult
	})
}

// Interrupted returns checks in which what was skipped counts as canceled if another run of its commit was: systems skip
// what needs a canceled run, and do not report why.
func Interrupted(checks []Check) []Check {
	canceled := map[string]bool{} // by commit
	for _, check := range checks {
		if check.NoResult && check.State == Failed {
			canceled[check.Commit] = true
		}
	}
	checks = slices.Clone(checks)
	for i := range checks {
		if checks[i].NoResult && canceled[checks[i].Commit] {
			checks[i].State = Failed
		}
	}
	return checks
}

// requiredRuns returns the runs of a pattern by name, the newest first, and the names that are required.
func requiredRuns(pattern string, checks []Check) (runs map[string][]Check, required []string) {
	checks = slices.DeleteFunc(Interrupted(checks), func(check Check) bool {
		return check.Name == StatusContext || health.IsContext(check.Name) || !glob.MatchName(pattern, check.Name)
	})
	runs = map[string][]Check{}
	for _, check := range checks {
		runs[check.Name] = append(runs[check.Name], check)
	}
	names := map[string]bool{}
	for finished := false; len(checks) > 0 && !finished; {
		oldest := checks[len(checks)-1].Commit
		first := slices.IndexFunc(checks, func(check Check) bool { return check.Commit == oldest })
		of := checks[first:]
		checks = checks[:first]
		finished = slices.ContainsFunc(of, Check.hasResult)
		for _, check := range of {
			names[check.Name] = true
		}
	}
	return runs, slices.Sorted(maps.Keys(names))
}

// CountingRun returns which run counts of those of one name, the newest first, and its state. Unknown: none has a result,
// and none still runs. It is negative if there is none.
func CountingRun(runs []Check) (int, ConditionState) {
	newest := func(runs []Check, state ConditionState) int {
		return slices.IndexFunc(runs, func(run Check) bool { return run.State == state && !run.NoResult })
	}
	passed, failed := newest(runs, Passed), newest(runs, Failed)
	older := max(failed, 0) // what started before a failure and still runs may pass
	running := newest(runs[older:], Pending)
	if running >= 0 {
		running += older
	}
	switch {
	case len(runs) == 0:
		return -1, Pending
	case passed >= 0:
		return passed, Passed
	case running >= 0:
		return running, Pending
	case failed >= 0:
		return failed, Failed
	}
	if canceled := slices.IndexFunc(runs, func(run Check) bool { return run.State != Passed }); canceled >= 0 {
		return canceled, Unknown
	}
	return 0, Passed // all are skipped
}

// firstName returns the name that sorts first, so that the order in which a forge
// lists checks does not change the message.
func firstName(a, b string) string {
	if a == "" {
		return b
	}
	return min(a, b)
}
