package gitlab

import (
	"context"

	gogitlab "github.com/xanzy/go-gitlab"

	"promoter/internal/fault"
	"promoter/internal/scm"
	"promoter/internal/scm/rest"
)

// signals are what is said about commits.
type signals struct{ *repository }

// Checks lists the statuses of a commit. GitLab keeps the jobs of pipelines and the
// statuses that others set in one list. Jobs of pipelines for merged results are
// none of the commit's: they run on a commit of GitLab's own.
func (s signals) Checks(ctx context.Context, commit string) ([]scm.Check, error) {
	noun := s.noun("checks of commit %.12s", rest.OneLine(commit))
	if !rest.IsCommit(commit) {
		return nil, fault.New(fault.Invalid, "%s: a commit is named in hex", noun)
	}
	found, err := s.statuses(ctx, commit)
	if err != nil {
		return nil, explain(noun, err)
	}
	var checks []scm.Check
	for _, status := range found {
		checks = append(checks, s.checkOf(status))
	}
	return rest.Worst(checks), nil
}

// checkOf translates a job or a status.
func (s signals) checkOf(status *gogitlab.CommitStatus) scm.Check {
	check := scm.Check{
		Name: status.Name, State: stateOf(status), URL: status.TargetURL, At: timeOf(status.CreatedAt),
		Own: s.isOwn(status), Description: status.Description,
	}
	if status.FinishedAt != nil {
		check.At = timeOf(status.FinishedAt)
	}
	return check
}

// isOwn says whether we set a status. The jobs of a pipeline that our push began
// have our account as their author too; only statuses that were set have words.
func (s signals) isOwn(status *gogitlab.CommitStatus) bool {
	return status.Description != "" && s.info.Self.Same(s.forge.person(status.Author.Username))
}

// stateOf translates the status of a job. One that may fail has passed when it
// does, as one that was left out; so has one that a person may start, and need not.
// https://docs.gitlab.com/api/jobs/#job-status-values
func stateOf(status *gogitlab.CommitStatus) scm.CheckState {
	switch status.Status {
	case "success", "skipped":
		return scm.CheckPassed
	case "failed", "manual":
		if status.AllowFailure {
			return scm.CheckPassed
		}
		if status.Status == "manual" {
			return scm.CheckPending
		}
		return scm.CheckFailed
	case "canceled", "canceling":
		return scm.CheckFailed
	default: // created, waiting_for_resource, preparing, waiting_for_callback, pending, running, scheduled
		return scm.CheckPending
	}
}

// source is where a job of a name runs: pipelines of the branch and of the merge
// request have the same commit and different refs.
type source struct {
	name, ref string
	own       bool
}

// latest leaves the latest result of every source; numbers grow. Of our own status
// there is one, whichever pipeline GitLab put it into.
func (s signals) latest(found []*gogitlab.CommitStatus) []*gogitlab.CommitStatus {
	targets := map[source]int{}
	var kept []*gogitlab.CommitStatus
	for _, status := range found {
		from := source{name: status.Name, ref: status.Ref}
		if s.isOwn(status) {
			from = source{name: status.Name, own: true}
		}
		target, ok := targets[from]
		switch {
		case !ok:
			targets[from] = len(kept)
			kept = append(kept, status)
		case status.ID > kept[target].ID:
			kept[target] = status
		}
	}
	return kept
}
